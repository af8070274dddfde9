// An answer as HTTP: content type, metering headers, body, and the end of its charge.
import { createReadStream } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { SVG_POLICY } from '../../query/charts/svgChart.ts';
import { type Body, lengthOf, wholeOf } from '../../store/duckdb/protocol.ts';
import { momentText } from '../../store/lake/history/history.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Charge } from '../../store/ledger/metering.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { textOf } from '../request/rendering.ts';
import type { Answer, StreamAnswer } from '../request/endpoint.ts';
import { sendFile } from './fileAnswer.ts';
import { LARGE_BYTES } from './heldAnswers.ts';

const PICTURE_TYPES = {
  svg: 'image/svg+xml',
  png: 'image/png',
  'vega-lite': 'application/vnd.vegalite.v5+json',
} as const;

const CONTENT_TYPES = {
  // node-iex-cloud compares this one with === (INTERFACE.md 0.2).
  json: 'application/json; charset=utf-8',
  jsonStrings: 'application/json; charset=utf-8',
  jsonl: 'application/x-ndjson; charset=utf-8',
  jsonlStrings: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  csvEscaped: 'text/csv; charset=utf-8',
  psv: 'text/plain; charset=utf-8',
  psvEscaped: 'text/plain; charset=utf-8',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
} as const;

/** What is kept for a reader, and who reads too slowly. */
interface Keeping {
  readonly hold: (body: Body) => void;
  readonly watch: () => void;
}

/** @throws Failure Busy, and nothing is charged, when the account reads too little of what it has. */
export function sendAnswer(
  reply: FastifyReply,
  answer: Answer,
  settings: Settings,
  { hold, watch }: Keeping,
): void {
  const { attribution, brand } = settings;
  if (answer.kind === 'json' || answer.kind === 'text') return sendText(reply, answer, brand);
  if (answer.kind === 'file' || answer.kind === 'redirect') {
    credit(reply, brand, [answer.source], attribution);
    if (answer.kind === 'file') {
      meter(reply, brand, FREE);
      // Its download was charged by the address of it.
      sendFile(reply, answer, watch);
    } else sendRedirect(reply, answer, brand);
    return;
  }
  if (answer.kind === 'stream') return sendStream(reply, answer, settings);
  if (answer.kind === 'unchanged') {
    meter(reply, brand, FREE);
    tellVersion(reply, brand, answer);
    void reply.code(304).header('etag', answer.tag).send();
    return;
  }
  if (answer.kind === 'unread') {
    meter(reply, brand, FREE);
    if (answer.tag !== undefined) reply.header('etag', answer.tag);
    tellVersion(reply, brand, answer);
    credit(reply, brand, sourcesOf(answer), attribution);
    // As a stream it has no length: that of the answer is not known.
    void reply.header('content-type', typeOf(answer)).send(Readable.from([]));
    return;
  }
  const { body, callback, charge } = answer;
  try {
    hold(body);
  } catch (error) {
    charge.undelivered();
    throw error;
  }
  if (answer.tag !== undefined) reply.header('etag', answer.tag);
  if (answer.cacheSeconds !== undefined) {
    reply.header('cache-control', `private, max-age=${answer.cacheSeconds}`);
  }
  meter(reply, brand, charge);
  credit(reply, brand, sourcesOf(answer), attribution);
  tellVersion(reply, brand, answer);
  if (answer.cutAt !== undefined) reply.header(`${brand}cloud-rows-cut`, String(answer.cutAt));
  const { leftOut = [] } = answer;
  if (leftOut.length > 0) reply.header(`${brand}cloud-left-out`, leftOut.join(','));
  labelForm(reply, answer);
  if (answer.picture !== undefined) frame(reply, answer);
  settled(reply, charge, () => sendBody(reply, body, callback));
}

function labelForm(reply: FastifyReply, answer: Pick<Rows, 'format' | 'picture' | 'plain'>): void {
  const { format, plain } = answer;
  reply.header('content-type', plain ? CONTENT_TYPES.psv : typeOf(answer));
  const isCsv = format === 'csv' || format === 'csvEscaped';
  // What a browser opens is not what its scripts get.
  if (isCsv || format.startsWith('psv')) reply.header('vary', 'Sec-Fetch-Mode, Sec-Fetch-Dest');
  if ((isCsv && !plain) || format === 'parquet')
    reply.header('content-disposition', `attachment; filename=API.${isCsv ? 'csv' : format}`);
}

const typeOf = ({ format, picture }: Pick<Rows, 'format' | 'picture'>): string =>
  picture === undefined ? CONTENT_TYPES[format] : PICTURE_TYPES[picture];

type Rows = Extract<Answer, { kind: 'rows' }>;

/** Seconds for which a page may show a picture again before it asks for it, unless the link says it. */
const PICTURE_SECONDS = 60;

/** A browser frames it with styles of its own. */
const PNG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** A page of any site may show a picture; opened by itself it can neither load nor run anything. */
function frame(reply: FastifyReply, { cacheSeconds = PICTURE_SECONDS, picture }: Rows): void {
  reply.headers({
    'cache-control': `private, max-age=${cacheSeconds}`,
    'cross-origin-resource-policy': 'cross-origin',
    'content-security-policy': picture === 'svg' ? SVG_POLICY : PNG_POLICY,
  });
}

function sendText(
  reply: FastifyReply,
  answer: Extract<Answer, { kind: 'json' | 'text' }>,
  brand: string,
): void {
  if (answer.kind === 'text') {
    meter(reply, brand, FREE);
    void reply.header('content-type', answer.contentType).send(answer.text);
    return;
  }
  if (answer.metering === 'free') meter(reply, brand, FREE);
  const { callback, format = 'json', plain = false, value } = answer;
  labelForm(reply, { format, plain });
  const text = textOf(value, format);
  if (callback === undefined) void reply.send(text);
  else sendScript(reply, callback, text);
}

function sendScript(reply: FastifyReply, callback: string, json: string): void {
  void reply.header('content-type', 'text/javascript; charset=utf-8').send(jsonp(callback, json));
}

function sendRedirect(
  reply: FastifyReply,
  { charge, location }: Extract<Answer, { kind: 'redirect' }>,
  brand: string,
): void {
  meter(reply, brand, charge);
  // Neither a cache nor another site may learn the address.
  void reply.headers({ 'cache-control': 'private, no-store', 'referrer-policy': 'no-referrer' });
  settled(reply, charge, () => void reply.code(302).header('location', location).send());
}

/** What was read, and what to ask for to read the same again. */
function tellVersion(
  reply: FastifyReply,
  brand: string,
  { moment, snapshot }: Pick<Extract<Answer, { kind: 'rows' }>, 'moment' | 'snapshot'>,
): void {
  reply.header(`${brand}cloud-snapshot`, String(snapshot));
  reply.header(`${brand}cloud-as-of`, momentText(moment));
}

function sendBody(reply: FastifyReply, body: Body, callback: string | undefined): void {
  const { file, pieces } = body;
  if (pieces !== undefined && callback === undefined) {
    sendPieces(reply, lengthOf(body), readable(pieces));
    return;
  }
  const bytes = wholeOf(body);
  if (file !== undefined) {
    const { length, path } = file;
    sendPieces(reply, length, createReadStream(path, { highWaterMark: PIECE_BYTES }));
    return;
  }
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (callback !== undefined) {
    sendScript(reply, callback, all.toString('utf8'));
  } else if (all.length < LARGE_BYTES) void reply.send(all);
  else sendPieces(reply, all.length, Readable.from(piecesOf(all), { objectMode: false }));
}

/** The caller who leaves while the body is on its way is charged; one who left before is not. */
function settleAtEnd(reply: FastifyReply, charge: Charge): void {
  onClose(reply, () => {
    if (reply.raw.headersSent) charge.delivered();
    else charge.undelivered();
  });
}

/**
 * Sends, and settles at once what was handed over whole, as most answers are: to wait for their end costs
 * 3 µs of each.
 */
function settled(reply: FastifyReply, charge: Charge, send: () => void): void {
  const { raw } = reply;
  if (raw.closed || raw.destroyed) {
    charge.undelivered();
    return;
  }
  send();
  if (raw.writableEnded) charge.delivered();
  else settleAtEnd(reply, charge);
}

/** A failure that costs all the same. */
export function meterFailure(reply: FastifyReply, charge: Charge, { brand }: Settings): void {
  meter(reply, brand, charge);
  settleAtEnd(reply, charge);
}

/** At the end of the answer; at once when its caller has left before it began. */
function onClose({ raw }: FastifyReply, work: () => void): void {
  if (raw.closed || raw.destroyed) work();
  else raw.once('close', work);
}

/** 112 MB go in 250 ms, in pieces of 64 KiB in 323 ms; a slow reader shows piece by piece. */
const PIECE_BYTES = 256 * 1024;

/** A body that DuckDB wrote, or one in memory that a reader may take long for. */
function sendPieces(reply: FastifyReply, length: number, pieces: Readable): void {
  void reply.header('content-length', String(length)).send(pieces);
}

/** As many pieces at a time as the reader takes, in one turn. */
function readable(pieces: readonly Uint8Array[]): Readable {
  let next = 0;
  return new Readable({
    highWaterMark: PIECE_BYTES,
    read(): void {
      for (let piece = pieces[next]; piece !== undefined; piece = pieces[next]) {
        next += 1;
        if (piece.byteLength > 0 && !this.push(piece)) return;
      }
      this.push(null);
    },
  });
}

function* piecesOf(bytes: Buffer): Generator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}

type Price = Pick<Charge, 'messages' | 'premium'>;

const FREE: Price = { messages: 0, premium: 0 };

function meter(reply: FastifyReply, brand: string, { messages, premium }: Price): void {
  reply.header(`${brand}cloud-messages-used`, String(messages));
  reply.header(`${brand}cloud-premium-messages-used`, String(premium));
}

/**
 * The headers, and then whatever happens: the stream writes to the socket itself, so that one message is
 * made into bytes once for all its readers.
 */
function sendStream(
  reply: FastifyReply,
  answer: StreamAnswer,
  { attribution, brand }: Settings,
): void {
  const { raw } = reply;
  const { socket } = raw;
  if (socket === null || socket.destroyed) {
    answer.unopened();
    return;
  }
  // What is sent is told by the account's usage.
  meter(reply, brand, FREE);
  credit(reply, brand, sourcesOf(answer), attribution);
  reply.header(`${brand}cloud-stream-id`, answer.id);
  reply.hijack();
  const isChunked = raw.req.httpVersion !== '1.0';
  raw.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': 'text/event-stream; charset=utf-8',
    // A proxy that gathers, compresses or keeps a stream breaks it.
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    ...(isChunked ? { 'transfer-encoding': 'chunked' } : { connection: 'close' }),
  });
  raw.flushHeaders();
  answer.open(socket, isChunked);
}

const sourcesOf = ({ datasets }: { readonly datasets: readonly Dataset[] }): readonly string[] =>
  datasets.length === 0 ? [''] : datasets.map(({ source }) => source);

/** Whom one dataset is credited to, and how many an answer names: the rest are in GET /attribution. */
const SOURCE_CHARACTERS_MAX = 500;
const SOURCES_MAX = 8;

/**
 * Whom the records must be credited to when they are shown (SPEC.md "What the service does"), each once.
 * @param usual for those that name nobody
 */
function credit(
  reply: FastifyReply,
  brand: string,
  sources: readonly string[],
  usual: string,
): void {
  const named = new Set(sources.map((source) => source || usual).filter((source) => source !== ''));
  if (named.size === 0) return;
  reply.header(`${brand}cloud-attribution`, creditText([...named]));
}

/** Texts of headers by the sources: most answers are of a few. */
const creditTexts = new Map<string, string>();
const CREDIT_TEXTS_MAX = 1_000;

function creditText(named: readonly string[]): string {
  const name = named.join('\n');
  const known = creditTexts.get(name);
  if (known !== undefined) return known;
  // A header is printable ASCII: what an owner wrote otherwise, and %, is percent-encoded.
  const texts = named.slice(0, SOURCES_MAX).map((source) =>
    source
      .slice(0, SOURCE_CHARACTERS_MAX)
      .toWellFormed()
      .replaceAll(/[^ -~]|%/gu, encodeURIComponent),
  );
  const more = named.length > SOURCES_MAX ? ['and others'] : [];
  const text = [...texts, ...more].join('; ');
  if (creditTexts.size >= CREDIT_TEXTS_MAX) creditTexts.clear();
  creditTexts.set(name, text);
  return text;
}

/** Two line separators are JSON but no JavaScript text; the comment guards old browsers. */
function jsonp(callback: string, json: string): string {
  const separators = /[\u2028\u2029]/g;
  const literal = json.replace(
    separators,
    (character) => `\\u${character.charCodeAt(0).toString(16)}`,
  );
  return `/**/ typeof ${callback} === 'function' && ${callback}(${literal});`;
}
