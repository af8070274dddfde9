// HTTP: the body of a URL, or of each page of a list, when it is not the one that came before.
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
import { positionOf, shortHash, sinceOf, textOf } from '../base/position.ts';
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

/** A longer one is not sent back: the body's hash tells too. */
const VALIDATOR_CHARACTERS_MAX = 1_024;
/** Of a failure's body, shown to who has to mend the source. */
const REASON_BYTES_MAX = 65_536;
const REASON_CHARACTERS_MAX = 200;

export const httpPull = (rules: OutgoingRules): Pull<HttpDefinition> =>
  async function* (given) {
    const url = urlOn(given.definition.url, given.landing.nowMs);
    const order = { ...given, definition: { ...given.definition, url } };
    const { pages } = order.definition;
    await using outgoing = openOutgoing(rules);
    if (pages === undefined) yield* whole(outgoing, order);
    else yield* listed(outgoing, order, pages);
  };

/** `{yyyy}`, `{mm}` and `{dd}` as the day of a time, in UTC: files that are named by day. */
function urlOn(url: string, ms: number): string {
  const [yyyy = '', mm = '', dd = ''] = isoTime(ms).slice(0, 10).split('-');
  const parts: Readonly<Record<string, string>> = { yyyy, mm, dd };
  return url.replaceAll(/\{(yyyy|mm|dd)\}/g, (_, part: string) => parts[part] ?? '');
}

/** One body: asked for on condition, and compared, since few servers know conditions. */
async function* whole(outgoing: Outgoing, order: HttpOrder): AsyncGenerator<Piece, void> {
  const { definition, landing } = order;
  const since = sinceOf(order);
  const conditions = {
    'if-none-match': textOf(since, 'etag'),
    'if-modified-since': textOf(since, 'lastModified'),
  };
  const answer = await get(outgoing, order, definition.url, landing.bytesMax, { conditions });
  if (answer === undefined) return;
  const landed = await land(answer.body, landing, { before: 0, ofBytes: answer.bytes });
  if (landed.sha256 === textOf(since, 'hash')) {
    await rm(landed.path);
    return;
  }
  const { path, bytes, sha256 } = landed;
  const position = positionOf(definition, {
    etag: validator(answer, 'etag'),
    lastModified: validator(answer, 'last-modified'),
    hash: sha256,
  });
  yield piece(order, { name: nameOf(definition.url), path, bytes, position });
}

/**
 * Pages that are those of the pull before are left out as long as none has changed; from the
 * first that has, all come: a later page may say the last word on a record of an earlier one.
 */
async function* listed(
  outgoing: Outgoing,
  order: HttpOrder,
  pages: Pages,
): AsyncGenerator<Piece, void> {
  const { definition, landing, sample } = order;
  const before = textOf(sinceOf(order), 'pages')?.split(',') ?? [];
  const hashes: string[] = [];
  const cursors = new Set<string>();
  let value = pages.kind === 'page' ? String(pages.first ?? 1) : undefined;
  let [changed, arrived] = [false, 0];
  for (let number = 1; ; number += 1) {
    if (number > PAGES_MAX) refuse(`a list has at most ${PAGES_MAX} pages`);
    const name = `${nameOf(definition.url)} page ${number}`;
    const url = withParameter(definition.url, pages, value);
    const isMore = pages.kind === 'page' && number > 1;
    const body = await pageBody(outgoing, order, { url, arrived, isMore });
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
      const position = positionOf(definition, { pages: hashes.join(',') });
      yield piece(order, { name, path, bytes, position, page: true });
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

interface PageAsked {
  readonly url: string;
  /** Bytes of the pages before. */
  readonly arrived: number;
  /** After other pages: it is no fault that it is not there. */
  readonly isMore: boolean;
}

/** Undefined where the list has ended. */
async function pageBody(
  outgoing: Outgoing,
  order: HttpOrder,
  { url, arrived, isMore }: PageAsked,
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

/** Undefined when there is nothing new. */
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

/** Those of the credential stand over those of the definition. */
function headersOf({ definition, credential }: HttpOrder): Readonly<Record<string, string>> {
  if (credential !== undefined && credential.type !== 'HTTP') {
    refuse(`a credential of type ${credential.type} does not open an HTTP source`);
  }
  const headers = new Map<string, string>();
  for (const given of [definition.headers ?? {}, credential?.headers ?? {}]) {
    for (const [name, value] of Object.entries(given)) headers.set(name.toLowerCase(), value);
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

/** The beginning of a failure's own words, on one line. */
async function reasonText(answer: OutgoingAnswer): Promise<string> {
  if (/html/i.test(answer.headers.get('content-type') ?? '')) return '';
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of answer.body) {
      chunks.push(chunk);
      if (chunks.reduce((sum, { length }) => sum + length, 0) > REASON_BYTES_MAX) break;
    }
  } catch {
    // The status says enough.
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

/** Without its query, which may hold a key. */
function nameOf(url: string): string {
  if (!URL.canParse(url)) return 'the URL';
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function validator(answer: OutgoingAnswer, name: string): string | null {
  const value = answer.headers.get(name);
  return value === undefined || value.length > VALIDATOR_CHARACTERS_MAX ? null : value;
}

function piece(order: HttpOrder, found: Omit<Piece, 'jsonPath'> & { position: Position }): Piece {
  const { jsonPath } = order.definition;
  return jsonPath === undefined ? found : { ...found, jsonPath };
}

function refuse(reason: string): never {
  throw new SourceFailure(reason, false);
}
