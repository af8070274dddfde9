// Sends an answer over HTTP: content type, metering headers and body; settles its charge at the end.
import { createReadStream } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { SVG_POLICY } from '../../query/charts/svgChart.ts';
import { type Body, bodyLength, bodyBytes } from '../../store/duckdb/protocol.ts';
import { formatMoment } from '../../store/lake/history/history.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Charge } from '../../store/ledger/metering.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { renderText } from '../../reads/request/rendering.ts';
import type { Answer, StreamAnswer } from '../../reads/request/answer.ts';
import { sendFile } from './fileAnswer.ts';
import { LARGE_BYTES } from './answerBuffers.ts';

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

/** Buffers an answer for its reader, and watches the reader's pace. */
interface ReaderBuffers {
  readonly hold: (body: Body) => void;
  readonly watch: () => void;
}

/** @throws Failure Busy, free of charge, if the account has too many unread answers. */
export function sendAnswer(
  reply: FastifyReply,
  answer: Answer,
  settings: Settings,
  { hold, watch }: ReaderBuffers,
): void {
  const { attribution, brand } = settings;
  if (answer.kind === 'json' || answer.kind === 'text') return sendText(reply, answer, brand);
  if (answer.kind === 'file' || answer.kind === 'redirect') {
    setAttribution(reply, brand, [answer.source], attribution);
    if (answer.kind === 'file') {
      setMeteringHeaders(reply, brand, FREE);
      // The download was charged at the redirect.
      sendFile(reply, answer, watch);
    } else sendRedirect(reply, answer, brand);
    return;
  }
  if (answer.kind === 'stream') return sendStream(reply, answer, settings);
  if (answer.kind === 'unchanged') {
    setMeteringHeaders(reply, brand, FREE);
    setVersionHeaders(reply, brand, answer);
    void reply.code(304).header('etag', answer.tag).send();
    return;
  }
  if (answer.kind === 'unread') {
    setMeteringHeaders(reply, brand, FREE);
    if (answer.tag !== undefined) reply.header('etag', answer.tag);
    setVersionHeaders(reply, brand, answer);
    setAttribution(reply, brand, listSources(answer), attribution);
    // A stream has no length header: the answer's length is not known.
    void reply.header('content-type', contentTypeOf(answer)).send(Readable.from([]));
    return;
  }
  const { body, callback, charge } = answer;
  try {
    hold(body);
  } catch (error) {
    charge.cancel();
    throw error;
  }
  if (answer.tag !== undefined) reply.header('etag', answer.tag);
  if (answer.cacheSeconds !== undefined) {
    reply.header('cache-control', `private, max-age=${answer.cacheSeconds}`);
  }
  setMeteringHeaders(reply, brand, charge);
  setAttribution(reply, brand, listSources(answer), attribution);
  setVersionHeaders(reply, brand, answer);
  if (answer.cutAt !== undefined) reply.header(`${brand}cloud-rows-cut`, String(answer.cutAt));
  const { leftOut = [] } = answer;
  if (leftOut.length > 0) reply.header(`${brand}cloud-left-out`, leftOut.join(','));
  setContentHeaders(reply, answer);
  if (answer.picture !== undefined) setPictureHeaders(reply, answer);
  sendAndSettle(reply, charge, () => sendBody(reply, body, callback));
}

function setContentHeaders(
  reply: FastifyReply,
  answer: Pick<Rows, 'format' | 'picture' | 'plain'>,
): void {
  const { format, plain } = answer;
  reply.header('content-type', plain ? CONTENT_TYPES.psv : contentTypeOf(answer));
  const isCsv = format === 'csv' || format === 'csvEscaped';
  // A browser's navigation gets another content type than its scripts.
  if (isCsv || format.startsWith('psv')) reply.header('vary', 'Sec-Fetch-Mode, Sec-Fetch-Dest');
  if ((isCsv && !plain) || format === 'parquet')
    reply.header('content-disposition', `attachment; filename=API.${isCsv ? 'csv' : format}`);
}

const contentTypeOf = ({ format, picture }: Pick<Rows, 'format' | 'picture'>): string =>
  picture === undefined ? CONTENT_TYPES[format] : PICTURE_TYPES[picture];

type Rows = Extract<Answer, { kind: 'rows' }>;

/** Seconds for which a browser may cache a chart, unless the link sets it. */
const PICTURE_CACHE_SECONDS = 60;

/** Browsers show an image in a page with inline styles. */
const PNG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** Any site may embed a chart; opened directly, it can neither load nor run anything. */
function setPictureHeaders(
  reply: FastifyReply,
  { cacheSeconds = PICTURE_CACHE_SECONDS, picture }: Rows,
): void {
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
    setMeteringHeaders(reply, brand, FREE);
    void reply.header('content-type', answer.contentType).send(answer.text);
    return;
  }
  if (answer.metering === 'free') setMeteringHeaders(reply, brand, FREE);
  const { callback, format = 'json', plain = false, value } = answer;
  setContentHeaders(reply, { format, plain });
  const text = renderText(value, format);
  if (callback === undefined) void reply.send(text);
  else sendScript(reply, callback, text);
}

function sendScript(reply: FastifyReply, callback: string, json: string): void {
  void reply
    .header('content-type', 'text/javascript; charset=utf-8')
    .send(renderJsonp(callback, json));
}

function sendRedirect(
  reply: FastifyReply,
  { charge, location }: Extract<Answer, { kind: 'redirect' }>,
  brand: string,
): void {
  setMeteringHeaders(reply, brand, charge);
  // Caches and other sites must not see the address.
  void reply.headers({ 'cache-control': 'private, no-store', 'referrer-policy': 'no-referrer' });
  sendAndSettle(reply, charge, () => void reply.code(302).header('location', location).send());
}

/** Sets the headers with the version that was read, for a later request of the same. */
function setVersionHeaders(
  reply: FastifyReply,
  brand: string,
  { moment, snapshot }: Pick<Extract<Answer, { kind: 'rows' }>, 'moment' | 'snapshot'>,
): void {
  reply.header(`${brand}cloud-snapshot`, String(snapshot));
  reply.header(`${brand}cloud-as-of`, formatMoment(moment));
}

function sendBody(reply: FastifyReply, body: Body, callback: string | undefined): void {
  const { file, pieces } = body;
  if (pieces !== undefined && callback === undefined) {
    sendPieces(reply, bodyLength(body), toReadable(pieces));
    return;
  }
  const bytes = bodyBytes(body);
  if (file !== undefined) {
    const { length, path } = file;
    sendPieces(reply, length, createReadStream(path, { highWaterMark: PIECE_BYTES }));
    return;
  }
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (callback !== undefined) {
    sendScript(reply, callback, all.toString('utf8'));
  } else if (all.length < LARGE_BYTES) void reply.send(all);
  else sendPieces(reply, all.length, Readable.from(splitPieces(all), { objectMode: false }));
}

/** A caller that disconnects during the body is charged; one that left before is not. */
function settleAtEnd(reply: FastifyReply, charge: Charge): void {
  onClose(reply, () => {
    if (reply.raw.headersSent) charge.confirm();
    else charge.cancel();
  });
}

/**
 * Sends, and settles immediately if the whole answer was handed over, as for most answers: to wait for the
 * end takes 3 µs of each.
 */
function sendAndSettle(reply: FastifyReply, charge: Charge, send: () => void): void {
  const { raw } = reply;
  if (raw.closed || raw.destroyed) {
    charge.cancel();
    return;
  }
  send();
  if (raw.writableEnded) charge.confirm();
  else settleAtEnd(reply, charge);
}

/** Charges for a failure that has a cost. */
export function meterFailure(reply: FastifyReply, charge: Charge, { brand }: Settings): void {
  setMeteringHeaders(reply, brand, charge);
  settleAtEnd(reply, charge);
}

/** Runs at the end of the answer; immediately if the caller has disconnected already. */
function onClose({ raw }: FastifyReply, work: () => void): void {
  if (raw.closed || raw.destroyed) work();
  else raw.once('close', work);
}

/** 112 MB take 250 ms, with 64 KiB pieces 323 ms; a slow reader is noticed piece by piece. */
const PIECE_BYTES = 256 * 1024;

/** Sends a body that DuckDB wrote, or a large one in memory. */
function sendPieces(reply: FastifyReply, length: number, pieces: Readable): void {
  void reply.header('content-length', String(length)).send(pieces);
}

/** Pushes as many pieces in one turn as the reader accepts. */
function toReadable(pieces: readonly Uint8Array[]): Readable {
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

function* splitPieces(bytes: Buffer): Generator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}

type Price = Pick<Charge, 'messages' | 'premium'>;

const FREE: Price = { messages: 0, premium: 0 };

function setMeteringHeaders(
  reply: FastifyReply,
  brand: string,
  { messages, premium }: Price,
): void {
  reply.header(`${brand}cloud-messages-used`, String(messages));
  reply.header(`${brand}cloud-premium-messages-used`, String(premium));
}

/**
 * Sends the headers; then the stream writes to the socket directly, so that a message is serialized once for
 * all its readers.
 */
function sendStream(
  reply: FastifyReply,
  answer: StreamAnswer,
  { attribution, brand }: Settings,
): void {
  const { raw } = reply;
  const { socket } = raw;
  if (socket === null || socket.destroyed) {
    answer.onUnopened();
    return;
  }
  // Messages are reported in the account's usage.
  setMeteringHeaders(reply, brand, FREE);
  setAttribution(reply, brand, listSources(answer), attribution);
  reply.header(`${brand}cloud-stream-id`, answer.id);
  reply.hijack();
  const isChunked = raw.req.httpVersion !== '1.0';
  raw.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': 'text/event-stream; charset=utf-8',
    // A proxy that buffers, compresses or caches a stream breaks it.
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    ...(isChunked ? { 'transfer-encoding': 'chunked' } : { connection: 'close' }),
  });
  raw.flushHeaders();
  answer.open(socket, isChunked);
}

const listSources = ({ datasets }: { readonly datasets: readonly Dataset[] }): readonly string[] =>
  datasets.length === 0 ? [''] : datasets.map(({ source }) => source);

/** Length of one attribution, and the number of them in an answer: the rest are in GET /attribution. */
const SOURCE_CHARACTERS_MAX = 500;
const SOURCES_MAX = 8;

/**
 * Sets the attribution required for display (SPEC.md "What the service does"), each source once.
 * @param defaultSource for datasets without a source
 */
function setAttribution(
  reply: FastifyReply,
  brand: string,
  sources: readonly string[],
  defaultSource: string,
): void {
  const uniqueSources = new Set(
    sources.map((source) => source || defaultSource).filter((source) => source !== ''),
  );
  if (uniqueSources.size === 0) return;
  reply.header(`${brand}cloud-attribution`, creditText([...uniqueSources]));
}

/** Header texts by source list: most answers have one of a few. */
const creditTexts = new Map<string, string>();
const CREDIT_TEXTS_MAX = 1_000;

function creditText(uniqueSources: readonly string[]): string {
  const name = uniqueSources.join('\n');
  const cached = creditTexts.get(name);
  if (cached !== undefined) return cached;
  // A header is printable ASCII: other characters and % are percent-encoded.
  const texts = uniqueSources.slice(0, SOURCES_MAX).map((source) =>
    source
      .slice(0, SOURCE_CHARACTERS_MAX)
      .toWellFormed()
      .replaceAll(/[^ -~]|%/gu, encodeURIComponent),
  );
  const more = uniqueSources.length > SOURCES_MAX ? ['and others'] : [];
  const text = [...texts, ...more].join('; ');
  if (creditTexts.size >= CREDIT_TEXTS_MAX) creditTexts.clear();
  creditTexts.set(name, text);
  return text;
}

/** Escapes two line separators that JSON allows and JavaScript does not; the comment guards old browsers. */
function renderJsonp(callback: string, json: string): string {
  const separators = /[\u2028\u2029]/g;
  const literal = json.replace(
    separators,
    (character) => `\\u${character.charCodeAt(0).toString(16)}`,
  );
  return `/**/ typeof ${callback} === 'function' && ${callback}(${literal});`;
}
