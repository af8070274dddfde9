// Plays `.http` transcripts: conversations with one server, as text.
//
//   # Lines before the first block: comments, and settings of the server that is started.
//   @TAPEDECK_DEMO=off
//
//   ### the title of a block
//   # a comment; then, if a job must end first, the text that the answer must contain (polled for 15 s):
//   @until "status":"done"
//   # and, for a signed request, the secret, and the date if it is not now:
//   @sign {{secret}} 20250314T092653Z
//   POST /v1/data/{{workspace}}?token={{sk}}
//   content-type: application/json
//
//   [{"a":1}]                     <- or `< inputs/file.csv`: its bytes, relative to the transcript
//
//   HTTP 200
//   content-type: application/json; charset=utf-8
//   !svccloud-messages-used       <- must be absent; headers that are not listed may be anything
//
//   {"job":"{{job=hex32}}","at":{{ms}}}
//
// Requests and expectations may contain variables and captures. Variables are `{{pk}} {{sk}}`, the
// first account's tokens, `{{tpk}} {{tsk}}`, its tokens for tests, `{{admin}}`, the operator's
// token, `{{base}}` and, where there is a test environment, `{{sandbox}}`: a request line with an
// address, such as `GET {{sandbox}}/v1/status`, goes there. An expectation may hold
// `{{*}} {{int}} {{ms}} {{iso}} {{uuid}} {{hex32}}` (any number of digits), and `{{name=int}}`,
// which later blocks use as `{{name}}`. Bodies are compared exactly: a body ends before the last
// newline of its block, and before the blank line ahead of the next `###`. Text that is longer
// than 20 kB or no plain text is compared by `N bytes, sha256 …`.
// `UPDATE=1 npm test -- transcripts` writes the real answers into the files; of a new block also
// UUIDs and times close to now as placeholders.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { difference } from './difference.ts';
import {
  fillIn,
  matchPattern,
  nameGiven,
  PLACEHOLDER,
  redraw,
  volatileNamed,
  type Variables,
} from './pattern.ts';
import { signatureDate, signatureHeaders } from './signature.ts';

const REQUEST_MS_MAX = 120_000;
const UNTIL_MS_MAX = 60_000;
const UNTIL_PAUSE_MS = 50;
const BODY_SHOWN_BYTES_MAX = 20_000;
/** Headers that a new expectation lists, if present. */
const TELLING_HEADERS = [
  'content-type',
  'svccloud-messages-used',
  'svccloud-premium-messages-used',
];

interface Request {
  readonly method: string;
  /** Path and query, or a whole address. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** The arguments of `@sign`: a secret, and a date if it is not now. */
  readonly sign: string | undefined;
}

interface Block {
  readonly title: string;
  /** The title, comments and the request as written in the file. */
  readonly head: string;
  readonly request: Request;
  readonly until: string | undefined;
  /** From `HTTP` on; empty if it was never written. */
  readonly expected: string;
}

interface Transcript {
  readonly path: string;
  readonly preamble: string;
  /** Settings for the server of this conversation. */
  readonly settings: Readonly<Record<string, string>>;
  readonly blocks: readonly Block[];
}

/** `base` is `http://address:port`; captures are added to `variables`. */
export interface World {
  readonly base: string;
  readonly variables: Variables;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Conversation {
  /** One step for each block, to be played in order; a step throws the difference. */
  readonly steps: readonly { readonly title: string; play(world: World): Promise<void> }[];
  /** Call it after the last step: with `update` it writes the answers into the file. */
  finish(): Promise<void>;
}

export async function readTranscript(path: string): Promise<Transcript> {
  const text = await readFile(path, 'utf8');
  const start = text.search(/^### /m);
  const preamble = start < 0 ? text : text.slice(0, start);
  const blocks = start < 0 ? [] : text.slice(start).split(/^(?=### )/m);
  const settings = [...preamble.matchAll(/^@(\w+)=(.*)$/gm)].map(([, name, value]) => [
    name,
    value,
  ]);
  return {
    path,
    preamble,
    settings: Object.fromEntries(settings),
    blocks: blocks.map((block, index) => readBlock(path, block, index === blocks.length - 1)),
  };
}

/** True if the answers are to be written into the files; an error in CI, where nobody reviews them. */
export function isUpdateRequested(
  variables: Readonly<Record<string, string | undefined>>,
): boolean {
  if (variables['UPDATE'] !== '1') return false;
  if (variables['CI'] === 'true') throw new Error('UPDATE=1 is refused where CI=true');
  return true;
}

/** The steps of a transcript; with `update` it rewrites the file instead of comparing. */
export function conversationOf(transcript: Transcript, update: boolean): Conversation {
  const { blocks, path } = transcript;
  const texts = blocks.map(({ expected }) => expected);
  const steps = blocks.map((block, index) => ({
    title: block.title,
    play: async (world: World): Promise<void> => {
      const actual = await playBlock(block, path, world);
      texts[index] = actual;
      if (!update) compare(block, actual, path);
    },
  }));
  const finish = async (): Promise<void> => {
    if (update) await writeFile(path, render(transcript, texts));
  };
  return { steps, finish };
}

function compare(block: Block, actual: string, path: string): void {
  const hint =
    block.expected === ''
      ? ' has no expectation yet: UPDATE=1 npm test -- transcripts'
      : ': - expected, + answered';
  const message = `${basename(path)}, ${block.title}${hint}\n${difference(block.expected, actual)}`;
  assert.ok(actual === block.expected, message);
}

const render = ({ preamble, blocks }: Transcript, texts: readonly string[]): string =>
  preamble + blocks.map(({ head }, index) => `${head}\n\n${texts[index]}\n`).join('\n');

// A block ends with its newline, and with one blank line when another block follows.
function readBlock(path: string, text: string, last: boolean): Block {
  const block = text.replace(last ? /\n$/ : /\n?\n$/, '');
  const start = /^HTTP(?: \d{3})?$/m.exec(block)?.index ?? block.length;
  const head = block.slice(0, start).replace(/\n?\n$/, '');
  const expected = block.slice(start);
  const [title = '', ...lines] = head.split('\n');
  const at = lines.findIndex((line) => !/^([#@]|$)/.test(line));
  const readDirective = (name: string): string | undefined =>
    lines
      .slice(0, at)
      .find((line) => line.startsWith(`@${name} `))
      ?.slice(name.length + 2);
  const parsedRequest = readRequest(`${basename(path)}, ${title}`, lines.slice(at));
  return {
    title: title.slice(4).trim(),
    head,
    until: readDirective('until'),
    request: { ...parsedRequest, sign: readDirective('sign') },
    expected: expected === 'HTTP' ? '' : expected,
  };
}

function readRequest(where: string, lines: readonly string[]): Omit<Request, 'sign'> {
  const [, method, target] = /^([A-Z]+) (\S+)$/.exec(lines[0] ?? '') ?? [];
  if (method === undefined || target === undefined) {
    throw new Error(`${where}: expected a request line such as GET /v1/status`);
  }
  const blank = lines.indexOf('');
  const end = blank < 0 ? lines.length : blank;
  const headers = lines.slice(1, end).map((line) => {
    const [, name, value] = /^([^\s:]+): ?(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`${where}: header? ${line}`);
    return [name, value] as const;
  });
  return { method, target, headers, body: lines.slice(end + 1).join('\n') };
}

/** The expectation updated from the real answer: the expected text itself if it matches. */
async function playBlock(block: Block, path: string, world: World): Promise<string> {
  const until = fillIn(block.until ?? '', world.variables);
  const deadlineMs = performance.now() + UNTIL_MS_MAX;
  let answer = await send(block.request, path, world);
  while (!answer.body.includes(until)) {
    assert.ok(performance.now() < deadlineMs, `no ${until} in ${answer.body.toString('utf8')}`);
    await pause(UNTIL_PAUSE_MS);
    answer = await send(block.request, path, world);
  }
  return block.expected === ''
    ? drawNew(answer, world.variables)
    : drawAgain(block.expected, answer, world.variables);
}

/** Uses `node:http`, because `fetch` adds headers, follows redirects and normalizes paths. */
async function send(blockRequest: Request, path: string, world: World): Promise<Answer> {
  const { base, variables } = world;
  const whole = fillIn(blockRequest.target, variables);
  const origin = /^https?:\/\/[^/]+/.exec(whole)?.[0] ?? base;
  const target = whole.startsWith(origin) ? whole.slice(origin.length) : whole;
  const { hostname, port, host } = new URL(origin);
  const headers: Record<string, string[]> = {};
  for (const [name, value] of blockRequest.headers) {
    (headers[name.toLowerCase()] ??= []).push(fillIn(value, variables));
  }
  const body = await bodyOf(blockRequest, path, variables);
  if (body.length > 0 && headers['transfer-encoding'] === undefined) {
    headers['content-length'] ??= [String(body.length)];
  }
  const { method } = blockRequest;
  if (blockRequest.sign !== undefined) {
    const [secret = '', dateText] = fillIn(blockRequest.sign, variables).split(' ');
    const date = dateText ?? signatureDate(new Date());
    Object.assign(headers, signatureHeaders({ method, target, host, body }, secret, date));
  }
  const signal = AbortSignal.timeout(REQUEST_MS_MAX);
  const options = { hostname, port, method, headers, signal, agent: false };
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, path: target }, (response) => {
      receive(response).then(resolve, reject);
    });
    sent.on('error', reject).end(body);
  });
}

async function bodyOf(blockRequest: Request, path: string, variables: Variables): Promise<Buffer> {
  const file = /^< (\S.*)$/.exec(blockRequest.body)?.[1];
  if (file !== undefined) return readFile(join(dirname(path), file));
  return Buffer.from(fillIn(blockRequest.body, variables));
}

async function receive(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const headers = Object.entries(response.headersDistinct).map(([name, values]) => [
    name,
    (values ?? []).join(', '),
  ]);
  const body = Buffer.concat(chunks);
  return { status: response.statusCode ?? 0, headers: Object.fromEntries(headers), body };
}

function drawNew({ status, headers, body }: Answer, variables: Variables): string {
  const lines = TELLING_HEADERS.filter((name) => headers[name] !== undefined).map(
    (name) => `${name}: ${headers[name]}`,
  );
  const text = volatileNamed(nameGiven(renderBody(body), variables), Date.now());
  return assemble([`HTTP ${status}`, ...lines], text);
}

function drawAgain(expected: string, answer: Answer, variables: Variables): string {
  const end = expected.indexOf('\n\n');
  const [, ...lines] = (end < 0 ? expected : expected.slice(0, end)).split('\n');
  const headers = lines.map((line) => drawHeader(line, answer.headers, variables));
  const pattern = end < 0 ? '' : expected.slice(end + 2);
  return assemble([`HTTP ${answer.status}`, ...headers], drawBody(pattern, answer.body, variables));
}

const assemble = (lines: readonly string[], body: string): string =>
  lines.join('\n') + (body === '' ? '' : `\n\n${body}`);

function drawHeader(line: string, headers: Answer['headers'], variables: Variables): string {
  const [, absent, name = '', pattern] = /^(!?)([^\s:]+)(?:: ?(.*))?$/.exec(line) ?? [];
  if (name === '' || (absent === '!') !== (pattern === undefined)) {
    throw new Error(`expected \`name: value\` or \`!name\` instead of ${line}`);
  }
  const value = headers[name.toLowerCase()];
  if (value === undefined) return absent === '!' ? line : `!${name}`;
  const newValue = drawText(pattern ?? '', value, variables);
  return newValue === pattern ? line : `${name}: ${newValue}`;
}

function drawBody(pattern: string, body: Buffer, variables: Variables): string {
  const text = body.toString('utf8');
  const holds = matchPattern(pattern, text, variables) !== undefined;
  const bodyText = holds ? text : renderBody(body);
  if (bodyText === text) return drawText(pattern, text, variables);
  return matchPattern(pattern, bodyText, variables) === undefined ? bodyText : pattern;
}

/** Keeps the pattern if it matches, and stores its captures. */
function drawText(pattern: string, actual: string, variables: Variables): string {
  const holds = matchPattern(pattern, actual, variables) !== undefined;
  const newPattern = holds ? pattern : redraw(pattern, actual, variables);
  const captures = matchPattern(newPattern, actual, variables);
  assert.ok(captures !== undefined && holds === (newPattern === pattern), `drew ${newPattern}`);
  for (const [name, value] of captures) variables.set(name, value);
  return newPattern;
}

/** The body itself, or its digest if a text file cannot hold it or it is too long to read. */
function renderBody(body: Buffer): string {
  const text = body.toString('utf8');
  const plain =
    body.length <= BODY_SHOWN_BYTES_MAX &&
    Buffer.from(text).equals(body) &&
    !/^### |[^\n\t -~\u00a0-\u{10ffff}]/mu.test(text) &&
    text.search(PLACEHOLDER) < 0;
  if (plain) return text;
  return `${body.length} bytes, sha256 ${createHash('sha256').update(body).digest('hex')}`;
}
