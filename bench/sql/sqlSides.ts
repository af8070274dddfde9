// The two sides of the SQL bench: the SQL endpoint over HTTP, and bare DuckDB in its process.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { setPriority } from 'node:os';
import type { Tapedeck } from '../../app/main.ts';
import { byMedian, type Client } from '../http/clientProcess.ts';
import type { BenchServer } from '../http/server.ts';
import { median, type Measurement } from '../base/measure.ts';
import { listFiles } from '../base/stored.ts';
import type { BareAnswer, BareHow, BareOpen, BareRequest } from './bareSql.ts';
import { DATASETS } from './sqlData.ts';
import type { Rows } from './sqlRows.ts';

/** Settings of the server's SQL pool. */
const THREADS = 2;
const NICENESS = 5;

interface SqlAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** Client of the SQL endpoint with a publishable token. */
export interface SqlEndpoint {
  /** Returns the response, without measuring it. */
  readonly answer: (sql: string, format: string) => Promise<SqlAnswer>;
  /** Returns the median of the texts, which the client process sends sequentially over one connection. */
  readonly time: (texts: readonly string[], format: string) => Promise<Measurement>;
}

export function openSqlEndpoint(client: Client, server: BenchServer): SqlEndpoint {
  const headers = { authorization: `Bearer ${server.publishable}` };
  const sqlPath = (format: string): string => `/v1/sql-query/WS?format=${format}`;
  return {
    answer: async (sql, format) => {
      // Requests uncompressed bytes, because fetch accepts compressed ones by default.
      const plain = { ...headers, 'accept-encoding': 'identity' };
      const request = { method: 'POST', headers: plain, body: sql };
      const answer = await fetch(`${server.base}${sqlPath(format)}`, request);
      return { status: answer.status, body: Buffer.from(await answer.arrayBuffer()) };
    },
    time: async (texts, format) => {
      const post = { path: sqlPath(format), method: 'POST', headers };
      const requests = texts.map((body) => ({ ...post, body }));
      const request = { requests, connections: 1, count: texts.length };
      return byMedian(await client.drive(server, request));
    },
  };
}

export interface Bare {
  /** Returns the median of repeated runs of a statement, measured in its process. */
  readonly time: (sql: string, how: BareHow, times?: number) => Promise<Measurement>;
  readonly rows: (sql: string) => Promise<Rows>;
  readonly close: () => void;
}

/** Files of the datasets, with the memory and threads of our child processes. */
type BareConfig = Omit<BareOpen, 'folder'>;

export async function describeBare(tapedeck: Tapedeck): Promise<BareConfig> {
  const { settings, lake } = tapedeck.services;
  const tables = await Promise.all(
    DATASETS.map(async (name) => {
      const dataset = lake.directory.dataset('WS', name);
      const columns = Object.keys(dataset?.schema.properties ?? {});
      return { name, columns, files: await listFiles(tapedeck, name) };
    }),
  );
  const { sqlMemoryBytes: memoryBytes, sqlSpillBytes: spillBytes } = settings;
  return { kind: 'open', tables, memoryBytes, spillBytes, threads: THREADS };
}

/** Starts bare DuckDB in its process. */
export async function openBare(over: BareConfig, folder: string): Promise<Bare> {
  await mkdir(folder, { recursive: true });
  const child = fork(new URL('./bareSql.ts', import.meta.url), [], { serialization: 'advanced' });
  if (child.pid !== undefined) setPriority(child.pid, NICENESS);
  await request(child, { ...over, folder });
  return {
    time: (sql, how, times = 1) => timeStatement(child, sql, how, times),
    rows: async (sql) => {
      const answer = await request(child, { kind: 'rows', sql });
      return answer.kind === 'rows' ? answer.rows : { count: -1, hash: '', first: '' };
    },
    close: () => void child.kill(),
  };
}

async function timeStatement(
  child: ChildProcess,
  sql: string,
  how: BareHow,
  count: number,
): Promise<Measurement> {
  const times: number[] = [];
  let spent = 0;
  for (let at = 0; at < count; at += 1) {
    const answer = await request(child, { kind: 'time', sql, how });
    if (answer.kind !== 'time') throw new Error(`bare DuckDB answered ${answer.kind}`);
    times.push(answer.ms);
    spent += answer.cpuMs;
  }
  return { ms: median(times), times, cpuMs: spent / count };
}

async function request(child: ChildProcess, message: BareRequest): Promise<BareAnswer> {
  const answered = once(child, 'message');
  child.send(message);
  const [answer] = (await answered) as [BareAnswer];
  if (answer.kind === 'failed') throw new Error(`bare DuckDB: ${answer.reason}`);
  return answer;
}
