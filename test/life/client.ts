// The requests of a simulated month, judged against the bars that must be there, and timed.
import assert from 'node:assert/strict';
import { type Bar, type Bars, symbolOf } from './bars.ts';
import type { Subject } from './subjectProcess.ts';

const DATASET = 'WS/BARS';
const FULL = /the disk is full/;

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

async function send(url: string, init: RequestInit): Promise<Answered> {
  const started = performance.now();
  const answer = await fetch(url, init);
  const text = await answer.text();
  return { status: answer.status, text, ms: performance.now() - started };
}

function ask({ door }: Subject, method: string, path: string, body?: string): Promise<Answered> {
  const headers = { authorization: `Bearer ${door.secret}` };
  return send(`${door.base}/v1${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
}

async function done(answer: Promise<Answered>, context: string): Promise<number> {
  const { status, text, ms } = await answer;
  assert.equal(status, 200, `${context}: ${text}`);
  return ms;
}

const loadPath = (replace: boolean): string =>
  `/data/${DATASET}?wait=true&key=symbol&date=time&duplicateKeyHandling=${replace ? 'replace' : 'ignore'}`;

export const load = (subject: Subject, csv: string, context: string): Promise<number> =>
  done(ask(subject, 'POST', loadPath(false), csv), context);

const pushPath = `/record/${DATASET}?duplicateKeyHandling=replace`;

export const push = (subject: Subject, bar: Bar, context: string): Promise<number> =>
  done(ask(subject, 'POST', pushPath, JSON.stringify(bar)), context);

export const deleteDay = (
  subject: Subject,
  key: number,
  day: string,
  context: string,
): Promise<number> =>
  done(ask(subject, 'DELETE', `/data/${DATASET}/${symbolOf(key)}?from=${day}&to=${day}`), context);

/** True if a load had enough space; if not, the disk was full and nothing else failed. */
export const loadIfRoom = (subject: Subject, csv: string): Promise<boolean> =>
  foundRoom(ask(subject, 'POST', loadPath(false), csv));

/** The same for a push. */
export const pushIfRoom = (subject: Subject, bar: Bar): Promise<boolean> =>
  foundRoom(ask(subject, 'POST', pushPath, JSON.stringify(bar)));

async function foundRoom(answer: Promise<Answered>): Promise<boolean> {
  const { status, text } = await answer;
  if (status === 200) return true;
  assert.equal(status, 507, text);
  assert.match(text, FULL);
  return false;
}

/** Milliseconds of a read of the latest bars of a key, which must equal those of the model. */
export async function readLast(
  { door }: Subject,
  bars: Bars,
  key: number,
  count: number,
  context: string,
): Promise<number> {
  const path = `/data/${DATASET}/${symbolOf(key)}?last=${count}&token=${door.publishable}`;
  const { status, text, ms } = await send(`${door.base}/v1${path}`, {});
  assert.equal(status, 200, `${context}: ${text}`);
  assert.deepEqual(
    JSON.parse(text),
    bars.last(key, count),
    `${context}: last ${count} of key ${key}`,
  );
  return ms;
}

/** The text of a key's latest bars as of a time. */
export async function readAsOf(subject: Subject, key: number, ms: number): Promise<string> {
  const { status, text } = await ask(
    subject,
    'GET',
    `/data/${DATASET}/${symbolOf(key)}?last=30&asOf=${ms}`,
  );
  assert.equal(status, 200, text);
  return text;
}

export async function checkCounts(subject: Subject, bars: Bars, context: string): Promise<void> {
  const { status, text } = await ask(subject, 'GET', `/datasets/${DATASET}`);
  assert.equal(status, 200, text);
  const view = JSON.parse(text) as { readonly records: number; readonly keys: number };
  assert.deepEqual([view.records, view.keys], [bars.count, bars.keys], `${context}: records, keys`);
}
