// The two sides of the speed suite: the SQL door over HTTP, and bare DuckDB in its process.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { setPriority } from 'node:os';
import type { Tapedeck } from '../../app/main.ts';
import type { BareAnswer, BareHow, BareRequest } from './bareSql.ts';
import { DATASETS } from './sqlData.ts';
import type { Rows } from './sqlRows.ts';
import { filesOf, tokenOf } from '../stored.ts';

/** As the SQL pool of the server has them. */
const THREADS = 2;
const NICENESS = 5;

interface Answered {
  readonly status: number;
  readonly body: Buffer;
  readonly ms: number;
}

/** Asks the door with a publishable token, over one connection that stays. */
export type Door = (sql: string, format: string) => Promise<Answered>;

export async function openDoor(tapedeck: Tapedeck): Promise<Door> {
  const token = await tokenOf(tapedeck, 'publishable');
  const agent = new Agent({ keepAlive: true });
  const headers = { authorization: `Bearer ${token}` };
  return (sql, format) =>
    new Promise((resolve, reject) => {
      const start = performance.now();
      const url = `${tapedeck.base}/v1/sql-query/WS?format=${format}`;
      const asked = request(url, { method: 'POST', agent, headers }, (answer) => {
        const pieces: Buffer[] = [];
        answer.on('data', (piece: Buffer) => pieces.push(piece));
        answer.on('end', () => {
          const ms = performance.now() - start;
          resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(pieces), ms });
        });
        answer.on('error', reject);
      });
      asked.on('error', reject);
      asked.end(sql);
    });
}

export interface Bare {
  /** Milliseconds of a statement, as its process measures them. */
  readonly time: (sql: string, how: BareHow) => Promise<number>;
  readonly rows: (sql: string) => Promise<Rows>;
  readonly close: () => void;
}

/** Bare DuckDB over the files of the datasets, with the memory, threads and priority of our children. */
export async function openBare(tapedeck: Tapedeck, folder: string): Promise<Bare> {
  await mkdir(folder, { recursive: true });
  const child = fork(new URL('./bareSql.ts', import.meta.url), [], { serialization: 'advanced' });
  if (child.pid !== undefined) setPriority(child.pid, NICENESS);
  const { settings, lake } = tapedeck.services;
  const tables = await Promise.all(
    DATASETS.map(async (name) => {
      const known = lake.directory.dataset('WS', name);
      const columns = Object.keys(known?.schema.properties ?? {});
      return { name, columns, files: await filesOf(tapedeck, name) };
    }),
  );
  const { sqlMemoryBytes: memoryBytes, sqlSpillBytes: spillBytes } = settings;
  const threads = THREADS;
  await asked(child, { kind: 'open', tables, memoryBytes, spillBytes, threads, folder });
  return {
    time: async (sql, how) => {
      const answer = await asked(child, { kind: 'time', sql, how });
      return answer.kind === 'time' ? answer.ms : 0;
    },
    rows: async (sql) => {
      const answer = await asked(child, { kind: 'rows', sql });
      return answer.kind === 'rows' ? answer.rows : { count: -1, hash: '', first: '' };
    },
    close: () => void child.kill(),
  };
}

async function asked(child: ChildProcess, message: BareRequest): Promise<BareAnswer> {
  const answered = once(child, 'message');
  child.send(message);
  const [answer] = (await answered) as [BareAnswer];
  if (answer.kind === 'failed') throw new Error(`bare DuckDB: ${answer.reason}`);
  return answer;
}
