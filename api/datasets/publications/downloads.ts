// Downloads: paid for at a redirect to an address that works once, within a minute (SPEC.md "Files").
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
  makeLink,
} from '../../../store/publications/downloadLinks.ts';
import { type FileType, fileTypeById } from '../../../store/publications/fileTypes.ts';
import type { Publication, PublicationName } from '../../../store/publications/publications.ts';
import { callerOf } from '../../auth/access.ts';
import { metered } from '../../read/metering.ts';
import type { Answer, Call, FileAnswer, Services } from '../../request/endpoint.ts';
import { refuse, textOf } from '../../request/parameters.ts';
import { freely } from '../../request/rows.ts';
import { type Part, partOf } from '../../request/ranges.ts';
import { fileTypeOf, paysPremiumFor } from './readable.ts';
import { verified } from './verified.ts';
import { RUNNING_MAX } from '../../request/uses.ts';

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

/** Prefix of an address's secret: no log shows what follows it. */
const LINK_PREFIX = 'dk_';

/** The redirect, for the price of one object. */
export async function answerDownload(call: Call, services: DownloadServices): Promise<Answer> {
  const { clock, database, lake } = services;
  const caller = callerOf(call.caller);
  const type = await fileTypeOf(caller, call.path['id'] ?? '', services);
  const publication = await publicationOf(type, nameAsked(type, call), services);
  // Nobody pays for what could not be handed out.
  if (services.damagedPublications.has(publication.publicationId)) throw damaged();
  const order = orderOf(call, caller, type, lake);
  const fare = { order, most: 1, least: 0 };
  const { accountId } = caller;
  const { publicationId, typeId } = publication;
  const metering = await metered(call, services, caller, fare, async () => {
    const secret = await makeLink(database, { publicationId, typeId, accountId, nowMs: clock() });
    return { objects: 1, secret };
  });
  if (metering.kind === 'unread') return { kind: 'text', text: '', contentType: type.contentType };
  if (metering.kind === 'estimate') return freely(metering.price);
  const { charge, result } = metering;
  const location = `/${call.path['version']}/files/once/${LINK_PREFIX}${result.secret}`;
  return { kind: 'redirect', location, charge, source: type.source };
}

const orderOf = (call: Call, caller: Caller, type: FileType, lake: Services['lake']) => ({
  requestId: call.requestId,
  endpoint: call.endpoint,
  usageKey: weightKeyOf(type),
  weight: type.weight,
  premium: paysPremiumFor(caller, type, lake),
});

/** The key of its messages in the account's usage. */
export const weightKeyOf = ({ name, workspace }: Pick<FileType, 'name' | 'workspace'>): string =>
  `${workspace}.${name}`;

/** Old clients always send both: what the type does not have is not looked at. */
function nameAsked(type: FileType, { query }: Call): PublicationName {
  const { byDate, bySymbol, name } = type;
  const symbol = textOf(query, 'symbol');
  const date = textOf(query, 'date');
  if (bySymbol && symbol === undefined) refuse('symbol', `must be given: ${name} is by symbol`);
  if (byDate && date === undefined) {
    refuse('date', `must be given as YYYYMMDD: ${name} is by date`);
  }
  return { symbol: bySymbol ? (symbol ?? '') : '', date: byDate ? (date ?? '') : '' };
}

async function publicationOf(
  type: FileType,
  name: PublicationName,
  { publications }: Pick<Services, 'publications'>,
): Promise<Publication> {
  const exact = await publications.find(type.typeId, name);
  if (exact !== undefined) return exact;
  // Symbols are upper case to old clients, whatever their callers write.
  const upper = { ...name, symbol: name.symbol.toUpperCase() };
  const found = type.bySymbol ? await publications.find(type.typeId, upper) : undefined;
  if (found === undefined) throw new Failure('NotFound');
  return found;
}

const OVER = `the address was used, or its ${LINK_LIFE_MS / 1_000} seconds are over: ask for the file again`;
const gone = (): Failure => new Failure('Gone', OVER);

/** What stands behind an address: its bytes, once. */
export async function answerOnce(call: Call, services: DownloadServices): Promise<Answer> {
  const { clock, database, publications } = services;
  const given = call.path['link'] ?? '';
  if (!given.startsWith(LINK_PREFIX)) throw gone();
  const link = await findLink(database, given.slice(LINK_PREFIX.length), clock());
  if (link === undefined) throw gone();
  // The address is enough; but who shows a token must be the one who paid.
  const shown = call.identified()?.accountId;
  if (shown !== undefined && shown !== link.accountId) throw new Failure('NotFound');
  const publication = await publications.byId(link.publicationId);
  const type = publication && (await fileTypeById(database, publication.typeId));
  if (publication === undefined || type === undefined) throw gone();
  const file = await opened(publication, services);
  try {
    return await served(call, { link, publication, type, file }, services);
  } catch (error) {
    await file.close();
    throw error;
  }
}

const damaged = (): Failure =>
  new Failure('Damaged', 'the published file is damaged: its owner must know');

/** @throws Failure Damaged when the file is not what was published, as far as that is known. */
async function opened(
  publication: Publication,
  { damagedPublications, publications }: DownloadServices,
): Promise<FileHandle> {
  if (damagedPublications.has(publication.publicationId)) throw damaged();
  await publications.bring(publication);
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
  const file = await open(publications.pathOf(publication), flags).catch((error: unknown) => {
    throw (error as { readonly code?: string }).code === 'ENOENT' ? damaged() : error;
  });
  const { size } = await file.stat();
  if (size === publication.bytes) return file;
  await file.close();
  damagedPublications.found(publication.publicationId);
  throw damaged();
}

interface Behind {
  readonly link: DownloadLink;
  readonly publication: Publication;
  readonly type: FileType;
  readonly file: FileHandle;
}

async function served(
  call: Call,
  { file, link, publication, type }: Behind,
  services: DownloadServices,
): Promise<FileAnswer> {
  const { downloads } = services;
  const { bytes } = publication;
  const tag = `"${publication.sha256}"`;
  const isRanged = call.ifRange === '' || call.ifRange === tag;
  const asked = isRanged ? partOf(call.range, bytes) : undefined;
  const part: Part = asked === undefined || asked === 'none' ? { start: 0, end: bytes } : asked;
  const status = asked === undefined ? 200 : asked === 'none' ? 416 : 206;
  const { contentType, source } = type;
  const name = fileNameOf(type, publication);
  const plain = { kind: 'file', status, part, bytes, tag, contentType, name, source } as const;
  if (call.bodiless || status === 416) {
    if (link.claimed) throw gone();
    await file.close();
    return { ...plain, stream: undefined, ended: () => undefined };
  }
  if (!downloads.hasRoom(link.accountId)) {
    const rule = `${RUNNING_MAX} downloads of an account run at once at most (RUNNING_MAX)`;
    throw new Failure('Busy', `${rule}: wait for the end of one`);
  }
  const done = await used(call, link, part, services);
  const endRun = downloads.run(link.accountId);
  const read = file.createReadStream({ start: part.start, end: part.end - 1, ...PIECES });
  // What went wrong cuts the answer: its length tells the client.
  return {
    ...plain,
    stream: checked(read, part, publication, services),
    ended: once(() => [endRun(), done], read),
  };
}

/** A whole file is compared with its hash on the way; a part of it can't be. */
function checked(
  read: ReadStream,
  { end, start }: Part,
  { bytes, publicationId, sha256 }: Publication,
  { damagedPublications }: DownloadServices,
): Readable {
  if (start !== 0 || end !== bytes) return read;
  const whole = verified(sha256, () => damagedPublications.found(publicationId));
  pipeline(read, whole, () => undefined);
  return whole;
}

/** 256 KiB at a time, as other answers of files. */
const PIECES = { highWaterMark: 256 * 1024 } as const;

function once(
  end: () => readonly [void, (handed: number) => void],
  stream: { readonly bytesRead: number },
): FileAnswer['ended'] {
  let over = false;
  return (whole, length) => {
    if (over) return;
    over = true;
    const [, done] = end();
    done(whole ? length : Math.min(stream.bytesRead, length - 1));
  };
}

/** @throws Failure Gone for whoever is not the first, nor goes on with what the first began. */
async function used(
  call: Call,
  link: DownloadLink,
  part: Part,
  { clock, database, downloads }: DownloadServices,
): Promise<(handed: number) => void> {
  const order = { hash: link.hash, client: call.address, part, nowMs: clock() };
  const isFirst = !link.claimed && (await claimLink(database, link, order.nowMs));
  const done = isFirst ? downloads.begin(order, link.expiresMs) : downloads.continue(order);
  if (done === undefined) throw gone();
  return done;
}

/** What browsers save it as: letters, digits and the signs that no system minds. */
function fileNameOf(type: FileType, { date, symbol }: PublicationName): string {
  const parts = [type.name, symbol, date].filter((part) => part !== '');
  return `${parts.join('-').replaceAll(/[^\w.-]/g, '_')}.${type.extension}`;
}
