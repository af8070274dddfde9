// Pulls the body of a URL over HTTP, or each page of a list, if it differs from that of the last pull.
import { rm } from 'node:fs/promises';
import { isoTime } from '../../../store/base/clock.ts';
import { land } from '../base/landing.ts';
import {
  openOutgoing,
  type Outgoing,
  type OutgoingAnswer,
  type OutgoingRules,
} from './outgoing.ts';
import { PAGE_BYTES_MAX, PAGES_MAX, type PageRead, readPage } from './pages.ts';
import { toPosition, shortHash, findSince, positionText } from '../base/position.ts';
import {
  type HttpDefinition,
  type Pages,
  type Piece,
  type Position,
  type Pull,
  type PullOrder,
  SourceFailure,
} from '../base/source.ts';

type HttpOrder = PullOrder<HttpDefinition>;

/** A longer validator is not sent back: the body's hash detects changes too. */
const VALIDATOR_CHARACTERS_MAX = 1_024;
/** Bytes of a failure's body, which is shown to the owner of the source. */
const REASON_BYTES_MAX = 65_536;
const REASON_CHARACTERS_MAX = 200;

export const httpPull = (rules: OutgoingRules): Pull<HttpDefinition> =>
  async function* (original) {
    const url = expandDate(original.definition.url, original.landing.nowMs);
    const order = { ...original, definition: { ...original.definition, url } };
    const { pages } = order.definition;
    await using outgoing = openOutgoing(rules);
    if (pages === undefined) yield* pullWhole(outgoing, order);
    else yield* pullPages(outgoing, order, pages);
  };

/** Replaces `{yyyy}`, `{mm}` and `{dd}` by the day of a time, in UTC: for files named by day. */
function expandDate(url: string, ms: number): string {
  const [yyyy = '', mm = '', dd = ''] = isoTime(ms).slice(0, 10).split('-');
  const parts: Readonly<Record<string, string>> = { yyyy, mm, dd };
  return url.replaceAll(/\{(yyyy|mm|dd)\}/g, (_, part: string) => parts[part] ?? '');
}

/** Pulls one body with a conditional request, and compares it, since few servers support conditions. */
async function* pullWhole(outgoing: Outgoing, order: HttpOrder): AsyncGenerator<Piece, void> {
  const { definition, landing } = order;
  const since = findSince(order);
  const conditions = {
    'if-none-match': positionText(since, 'etag'),
    'if-modified-since': positionText(since, 'lastModified'),
  };
  const answer = await get(outgoing, order, definition.url, landing.bytesMax, { conditions });
  if (answer === undefined) return;
  const landed = await land(answer.body, landing, { before: 0, ofBytes: answer.bytes });
  if (landed.sha256 === positionText(since, 'hash')) {
    await rm(landed.path);
    return;
  }
  const { path, bytes, sha256 } = landed;
  const position = toPosition(definition, {
    etag: validator(answer, 'etag'),
    lastModified: validator(answer, 'last-modified'),
    hash: sha256,
  });
  yield toPiece(order, { name: nameOf(definition.url), path, bytes, position });
}

/**
 * Skips pages that are the same as in the last pull until one has changed; from the first changed page on,
 * all are pulled: a later page may update a record of an earlier one.
 */
async function* pullPages(
  outgoing: Outgoing,
  order: HttpOrder,
  pages: Pages,
): AsyncGenerator<Piece, void> {
  const { definition, landing, sample } = order;
  const before = positionText(findSince(order), 'pages')?.split(',') ?? [];
  const hashes: string[] = [];
  const cursors = new Set<string>();
  let value = pages.kind === 'page' ? String(pages.first ?? 1) : undefined;
  let [changed, arrived] = [false, 0];
  for (let number = 1; ; number += 1) {
    if (number > PAGES_MAX) refuse(`a list has at most ${PAGES_MAX} pages`);
    const name = `${nameOf(definition.url)} page ${number}`;
    const url = withParameter(definition.url, pages, value);
    const isMore = pages.kind === 'page' && number > 1;
    const body = await readPageBody(outgoing, order, { url, arrived, isMore });
    if (body === undefined) return;
    const read = readPage(body, pages, definition.jsonPath);
    if (isEnd(read, pages, number, name)) return;
    arrived += body.length;
    hashes.push(shortHash(body));
    if (hashes.at(-1) === hashes.at(-2)) refuse(`${name} is the page before once more`);
    changed ||= hashes.at(-1) !== before[number - 1];
    if (changed && read.records !== 0) {
      const { path, bytes } = await land([body], landing, {
        before: arrived - body.length,
        ofBytes: undefined,
      });
      const position = toPosition(definition, { pages: hashes.join(',') });
      yield toPiece(order, { name, path, bytes, position, page: true });
    }
    if (sample === true) return;
    value = nextValue(read, pages, number, cursors);
    if (value === undefined) return;
  }
}

/** A `page` list ends with a page without records; a `cursor` list may have some in between. */
function isEnd(read: PageRead, pages: Pages, number: number, name: string): boolean {
  if (read.records === undefined && number === 1) refuse(`${name} has nothing at "jsonPath"`);
  return pages.kind === 'page' && (read.records ?? 0) === 0;
}

function nextValue(
  read: PageRead,
  pages: Pages,
  number: number,
  cursors: Set<string>,
): string | undefined {
  if (pages.kind === 'page') return String((pages.first ?? 1) + number);
  if (read.cursor === undefined) return undefined;
  if (cursors.has(read.cursor)) refuse('the list sends the same cursor again');
  cursors.add(read.cursor);
  return read.cursor;
}

interface PageRequest {
  readonly url: string;
  /** Bytes of the previous pages. */
  readonly arrived: number;
  /** True after other pages: a missing page is then no failure. */
  readonly isMore: boolean;
}

/** Undefined if the list has ended. */
async function readPageBody(
  outgoing: Outgoing,
  order: HttpOrder,
  { url, arrived, isMore }: PageRequest,
): Promise<Buffer | undefined> {
  const { bytesMax, onBytes } = order.landing;
  const answer = await get(outgoing, order, url, Math.min(PAGE_BYTES_MAX, bytesMax), { isMore });
  if (answer === undefined) return undefined;
  const chunks: Buffer[] = [];
  let bytes = arrived;
  for await (const chunk of answer.body) {
    chunks.push(chunk);
    bytes += chunk.length;
    onBytes(bytes, undefined);
  }
  return Buffer.concat(chunks);
}

interface HttpRequest {
  /** Values of conditional headers, by name. */
  readonly conditions?: Readonly<Record<string, string | undefined>>;
  readonly isMore?: boolean;
}

/** Undefined if there is nothing new. */
async function get(
  outgoing: Outgoing,
  order: HttpOrder,
  url: string,
  bytesMax: number,
  { conditions = {}, isMore = false }: HttpRequest,
): Promise<OutgoingAnswer | undefined> {
  const ownHeaders = Object.fromEntries(
    Object.entries(conditions).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
  const headers = headersOf(order);
  const { signal } = order.landing;
  const request = { method: 'GET', url, headers, ownHeaders, bytesMax, signal } as const;
  const answer = await outgoing.send(request);
  const { status } = answer;
  if (status === 200 || status === 203) return answer;
  if (status === 204 || (status === 304 && Object.keys(ownHeaders).length > 0)) return undefined;
  if (status === 404 && isMore) return undefined;
  throw await statusFailure(answer, nameOf(url));
}

/** Headers of the credential override those of the definition. */
function headersOf({ definition, credential }: HttpOrder): Readonly<Record<string, string>> {
  if (credential !== undefined && credential.type !== 'HTTP') {
    refuse(`a credential of type ${credential.type} does not open an HTTP source`);
  }
  const headers = new Map<string, string>();
  for (const source of [definition.headers ?? {}, credential?.headers ?? {}]) {
    for (const [name, value] of Object.entries(source)) headers.set(name.toLowerCase(), value);
  }
  return Object.fromEntries(headers);
}

async function statusFailure(answer: OutgoingAnswer, name: string): Promise<SourceFailure> {
  const { status } = answer;
  const transient = [202, 408, 425, 429].includes(status) || (status >= 500 && status !== 501);
  const what =
    status === 401 || status === 403
      ? `${name} refused the credential (HTTP ${status})`
      : status === 404 || status === 410
        ? `${name} is not there (HTTP ${status})`
        : `${name} answered HTTP ${status}`;
  const reason = await reasonText(answer);
  return new SourceFailure(reason === '' ? what : `${what}: ${reason}`, transient);
}

/** The beginning of a failure's body, on one line. */
async function reasonText(answer: OutgoingAnswer): Promise<string> {
  if (/html/i.test(answer.headers.get('content-type') ?? '')) return '';
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of answer.body) {
      chunks.push(chunk);
      if (chunks.reduce((sum, { length }) => sum + length, 0) > REASON_BYTES_MAX) break;
    }
  } catch {
    // The status is enough.
  }
  const text = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/[\p{C}\s]+/gu, ' ');
  return text.trim().slice(0, REASON_CHARACTERS_MAX);
}

function withParameter(url: string, pages: Pages, value: string | undefined): string {
  if (value === undefined || !URL.canParse(url)) return url;
  const next = new URL(url);
  next.searchParams.set(pages.parameter, value);
  return next.href;
}

/** The URL without its query, which may have a key. */
function nameOf(url: string): string {
  if (!URL.canParse(url)) return 'the URL';
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function validator(answer: OutgoingAnswer, name: string): string | null {
  const value = answer.headers.get(name);
  return value === undefined || value.length > VALIDATOR_CHARACTERS_MAX ? null : value;
}

function toPiece(
  order: HttpOrder,
  fields: Omit<Piece, 'jsonPath'> & { position: Position },
): Piece {
  const { jsonPath } = order.definition;
  return jsonPath === undefined ? fields : { ...fields, jsonPath };
}

function refuse(reason: string): never {
  throw new SourceFailure(reason, false);
}
