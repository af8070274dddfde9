// Downloads: charged at a redirect to an address that works once, within a minute (SPEC.md "Files").
import { constants, type ReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import type { Caller } from '../../../store/accounts/callers.ts';
import { Failure } from '../../../store/base/failure.ts';
import {
  claimLink,
  type DownloadLink,
  findLink,
  LINK_LIFE_MS,
  createLink,
} from '../../../store/publications/downloadLinks.ts';
import { type FileType, findFileTypeById } from '../../../store/publications/fileTypes.ts';
import type { Publication, PublicationName } from '../../../store/publications/publications.ts';
import { meterCall } from '../../../reads/answer/metering.ts';
import type { Call, OpenCall, Services } from '../../request/endpoint.ts';
import type { Answer, FileAnswer } from '../../../reads/request/answer.ts';
import { refuse, textOf } from '../../../reads/request/parameters.ts';
import { toFreeAnswer } from '../../request/rows.ts';
import { type ByteRange, parseRange } from '../../../reads/request/ranges.ts';
import { resolveFileType, paysPremiumFor } from './readableFileTypes.ts';
import { makeHashVerifier } from './hashVerifier.ts';
import { RUNNING_MAX } from '../../request/downloadGrants.ts';
import { partRule } from './publishing.ts';

type DownloadServices = Pick<
  Services,
  | 'clock'
  | 'damagedPublications'
  | 'database'
  | 'downloads'
  | 'lake'
  | 'ledger'
  | 'publications'
  | 'settings'
>;

/** Prefix of an address's secret: the log redacts the text after it. */
const LINK_PREFIX = 'dk_';

/** Answers the redirect, for the price of one object. */
export async function answerDownload(call: Call, services: DownloadServices): Promise<Answer> {
  const { clock, database, lake } = services;
  const { caller } = call;
  const type = await resolveFileType(caller, call.path['id'] ?? '', services);
  const publication = await findPublication(type, readName(type, call), services);
  // A damaged file must not be charged.
  if (services.damagedPublications.has(publication.publicationId)) throw damagedFailure();
  const order = buildOrder(call, caller, type, lake);
  const fare = { order, most: 1, least: 0 };
  const { accountId } = caller;
  const { publicationId, typeId } = publication;
  const metering = await meterCall(call, services, caller, fare, async () => {
    const secret = await createLink(database, { publicationId, typeId, accountId, nowMs: clock() });
    return { objects: 1, secret };
  });
  if (metering.kind === 'unread') return { kind: 'text', text: '', contentType: type.contentType };
  if (metering.kind === 'estimate') return toFreeAnswer(metering.price);
  const { charge, result } = metering;
  const location = `/${call.path['version']}/files/once/${LINK_PREFIX}${result.secret}`;
  return { kind: 'redirect', location, charge, source: type.source };
}

const buildOrder = (call: Call, caller: Caller, type: FileType, lake: Services['lake']) => ({
  requestId: call.requestId,
  endpoint: call.endpoint,
  usageKey: fileUsageKey(type),
  weight: type.weight,
  premium: paysPremiumFor(caller, type, lake),
});

/** The usage key of a file type's messages. */
export const fileUsageKey = ({ name, workspace }: Pick<FileType, 'name' | 'workspace'>): string =>
  `${workspace}.${name}`;

/** Old clients always send both: a parameter that the type does not use is ignored. */
function readName(type: FileType, { query }: Call): PublicationName {
  const { byDate, bySymbol, name } = type;
  const symbol = textOf(query, 'symbol');
  const date = textOf(query, 'date');
  if (bySymbol && symbol === undefined) refuse('symbol', partRule(name, 'symbol'));
  if (byDate && date === undefined) {
    refuse('date', `must be given as YYYYMMDD: ${name} is by date`);
  }
  return { symbol: bySymbol ? (symbol ?? '') : '', date: byDate ? (date ?? '') : '' };
}

async function findPublication(
  type: FileType,
  name: PublicationName,
  { publications }: Pick<Services, 'publications'>,
): Promise<Publication> {
  const exact = await publications.find(type.typeId, name);
  if (exact !== undefined) return exact;
  // Old clients always send symbols in upper case.
  const upper = { ...name, symbol: name.symbol.toUpperCase() };
  const upperMatch = type.bySymbol ? await publications.find(type.typeId, upper) : undefined;
  if (upperMatch === undefined) throw new Failure('NotFound');
  return upperMatch;
}

const LIFE_SECONDS = LINK_LIFE_MS / 1_000;
const LINK_EXPIRED = `the address was used, or its ${LIFE_SECONDS} seconds are over: request the file again`;
const goneFailure = (): Failure => new Failure('Gone', LINK_EXPIRED);

/** Answers the file of an address, once. */
export async function answerDownloadLink(
  call: OpenCall,
  services: DownloadServices,
): Promise<Answer> {
  const { clock, database, publications } = services;
  const address = call.path['link'] ?? '';
  if (!address.startsWith(LINK_PREFIX)) throw goneFailure();
  const link = await findLink(database, address.slice(LINK_PREFIX.length), clock());
  if (link === undefined) throw goneFailure();
  // No token is needed; if there is one, it must be the paying account's.
  const accountId = call.identifyCaller()?.accountId;
  if (accountId !== undefined && accountId !== link.accountId) throw new Failure('NotFound');
  const publication = await publications.findById(link.publicationId);
  const type = publication && (await findFileTypeById(database, publication.typeId));
  if (publication === undefined || type === undefined) throw goneFailure();
  const file = await openFile(publication, services);
  try {
    return await serveFile(call, { link, publication, type, file }, services);
  } catch (error) {
    await file.close();
    throw error;
  }
}

const damagedFailure = (): Failure =>
  new Failure('Damaged', 'the published file is damaged: its owner must know');

/** @throws Failure Damaged if the file is known to differ from what was published. */
async function openFile(
  publication: Publication,
  { damagedPublications, publications }: DownloadServices,
): Promise<FileHandle> {
  if (damagedPublications.has(publication.publicationId)) throw damagedFailure();
  await publications.fetchLocal(publication);
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
  const file = await open(publications.pathOf(publication), flags).catch((error: unknown) => {
    throw (error as { readonly code?: string }).code === 'ENOENT' ? damagedFailure() : error;
  });
  const { size } = await file.stat();
  if (size === publication.bytes) return file;
  await file.close();
  damagedPublications.markDamaged(publication.publicationId);
  throw damagedFailure();
}

interface LinkedFile {
  readonly link: DownloadLink;
  readonly publication: Publication;
  readonly type: FileType;
  readonly file: FileHandle;
}

async function serveFile(
  call: OpenCall,
  { file, link, publication, type }: LinkedFile,
  services: DownloadServices,
): Promise<FileAnswer> {
  const { downloads } = services;
  const { bytes } = publication;
  const tag = `"${publication.sha256}"`;
  const isRanged = call.ifRange === '' || call.ifRange === tag;
  const range = isRanged ? parseRange(call.range, bytes) : undefined;
  const part: ByteRange =
    range === undefined || range === 'none' ? { start: 0, end: bytes } : range;
  const status = range === undefined ? 200 : range === 'none' ? 416 : 206;
  const { contentType, source } = type;
  const name = fileNameOf(type, publication);
  const fileAnswer = { kind: 'file', status, part, bytes, tag, contentType, name, source } as const;
  if (call.bodiless || status === 416) {
    if (link.claimed) throw goneFailure();
    await file.close();
    return { ...fileAnswer, stream: undefined, onEnd: () => undefined };
  }
  if (!downloads.hasRoom(link.accountId)) {
    const rule = `${RUNNING_MAX} downloads of an account run at once at most (RUNNING_MAX)`;
    throw new Failure('Busy', `${rule}: wait for the end of one`);
  }
  const finish = await claimUse(call, link, part, services);
  const endRun = downloads.run(link.accountId);
  const read = file.createReadStream({ start: part.start, end: part.end - 1, ...PIECE_OPTIONS });
  // A failure cuts the answer; the client notices by its length.
  return {
    ...fileAnswer,
    stream: verifiedStream(read, part, publication, services),
    onEnd: finishOnce(() => [endRun(), finish], read),
  };
}

/** Compares a whole file with its hash while it is sent; a part can't be compared. */
function verifiedStream(
  read: ReadStream,
  { end, start }: ByteRange,
  { bytes, publicationId, sha256 }: Publication,
  { damagedPublications }: DownloadServices,
): Readable {
  if (start !== 0 || end !== bytes) return read;
  const verifying = makeHashVerifier(sha256, () => damagedPublications.markDamaged(publicationId));
  pipeline(read, verifying, () => undefined);
  return verifying;
}

/** Reads 256 KiB at a time, as other file answers. */
const PIECE_OPTIONS = { highWaterMark: 256 * 1024 } as const;

function finishOnce(
  end: () => readonly [void, (handed: number) => void],
  stream: { readonly bytesRead: number },
): FileAnswer['onEnd'] {
  let isOver = false;
  return (isWhole, length) => {
    if (isOver) return;
    isOver = true;
    const [, finish] = end();
    finish(isWhole ? length : Math.min(stream.bytesRead, length - 1));
  };
}

/** Claims the address or continues its download. @throws Failure Gone for any other client. */
async function claimUse(
  call: OpenCall,
  link: DownloadLink,
  part: ByteRange,
  { clock, database, downloads }: DownloadServices,
): Promise<(handed: number) => void> {
  const order = { hash: link.hash, client: call.address, part, nowMs: clock() };
  const isFirst = !link.claimed && (await claimLink(database, link, order.nowMs));
  const done = isFirst ? downloads.begin(order, link.expiresMs) : downloads.continue(order);
  if (done === undefined) throw goneFailure();
  return done;
}

/** The file name for browsers, with characters that every system allows. */
function fileNameOf(type: FileType, { date, symbol }: PublicationName): string {
  const parts = [type.name, symbol, date].filter((part) => part !== '');
  return `${parts.join('-').replaceAll(/[^\w.-]/g, '_')}.${type.extension}`;
}
