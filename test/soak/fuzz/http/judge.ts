// What every answer must be, whatever was asked.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { localDisk } from '../../../../store/base/disk.ts';
import { loaded, read } from '../../../base/client.ts';
import { startServer, type TestServer } from '../../../base/server.ts';

interface Suspect {
  readonly status: number;
  readonly body: string;
}

/** Words that only a fault of ours puts into an answer. */
const INNARDS = [
  'INTERNAL Error',
  'Assertion',
  'FATAL',
  'node_modules',
  '.ts:',
  'Cannot read prop',
  'is not a function',
  'is not iterable',
  'ended in ERROR: null',
  '[object Object]',
  'Maximum call stack',
  'Unexpected token',
  'Binder Error',
  'Parser Error',
  'Catalog Error',
  'Out of Memory',
  'SET threads',
  'Invalid Input Error',
  'Invalid Error',
  'IO Error',
  'TProtocol',
  'Conversion Error',
  'maximum_object_size',
  'typed array',
  'out of bounds',
  'TypeError',
  'RangeError',
  'incorrect header',
  'read_json',
  'read_parquet',
] as const;
/** Words of DuckDB that only the text of a query may bring. */
const OF_QUERIES = ['Malformed JSON', 'read_csv'] as const;

/** What is wrong with an answer to input that nobody vouches for; undefined when nothing is. */
export function faultOf(
  { status, body }: Suspect,
  folder: string,
  of: 'file' | 'query' = 'file',
): string | undefined {
  if (status === 0) return 'no answer';
  if (status >= 500) return `status ${status}: ${body.slice(0, 500)}`;
  if (status >= 400 && body.trim() === '') return `status ${status} without a word`;
  if (body.includes(folder)) return `the answer names our folder: ${body.slice(0, 500)}`;
  if (status < 400) return undefined;
  const words = of === 'file' ? [...INNARDS, ...OF_QUERIES] : INNARDS;
  const word = words.find((innard) => body.includes(innard));
  return word === undefined ? undefined : `the refusal says ${word}: ${body.slice(0, 500)}`;
}

/** A server with a dataset that no fuzzing touches, and the bytes that it answers. */
export interface Arena extends AsyncDisposable {
  readonly server: TestServer;
  readonly port: number;
  /** What is wrong with the server after all; empty when nothing is. */
  faults(): Promise<readonly string[]>;
}

const UNTOUCHED = '/data/WS/UNTOUCHED?limit=100';

export async function openArena(): Promise<Arena> {
  const loose: string[] = [];
  // The runner of tests survives what would end a server: what nobody caught is noted here.
  const note = (error: unknown): void => void loose.push(`nobody caught ${String(error)}`);
  process.on('uncaughtExceptionMonitor', note);
  process.on('unhandledRejection', note);
  const server = await startServer();
  const rows = Array.from({ length: 50 }, (_, at) => `K${at % 5},2024-01-${10 + (at % 19)},${at}`);
  await loaded(server, 'UNTOUCHED', `symbol,date,v\n${rows.join('\n')}\n`);
  const bytes = await read(server, UNTOUCHED);
  assert.ok(bytes.length > 500);
  const faults = async (): Promise<readonly string[]> => {
    const found = [...loose];
    const status = await fetch(`${server.base}/v1/status`);
    if (!(await status.text()).includes('"up"')) found.push(`the server is ${status.status}`);
    const now = await read(server, UNTOUCHED);
    if (now !== bytes) found.push(`another dataset answers other bytes: ${now.slice(0, 200)}`);
    return [...found, ...(await remains(server.folder))];
  };
  const port = Number(new URL(server.base).port);
  const close = async (): Promise<void> => {
    await server.close();
    process.off('uncaughtExceptionMonitor', note);
    process.off('unhandledRejection', note);
  };
  return { server, port, faults, [Symbol.asyncDispose]: close };
}

/** Of a server that is still at work when it is asked: flushes end, and a loaded machine takes its time. */
const IDLE_MS = 30_000;

/** Files that an idle server should have removed. */
export async function remains(folder: string): Promise<readonly string[]> {
  const left = async (): Promise<readonly string[]> => {
    const parts = ['tmp', 'spool'].map((part) => join(folder, part));
    const files = parts.map(async (part) =>
      (await localDisk.list(part)).map((name) => join(part, name)),
    );
    return (await Promise.all(files)).flat();
  };
  for (let ms = 0; ms < IDLE_MS && (await left()).length > 0; ms += 100) await sleep(100);
  return (await left()).map((name) => `left behind: ${name}`);
}
