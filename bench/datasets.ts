// What many datasets cost those who ask for one: commits, a page of the list, and the start, beside 5,000
// datasets of 20 files each and beside 10.
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import type { Tapedeck } from '../app/main.ts';
import { makeMany } from '../test/store/manyDatasets.ts';
import { median, type Ratio, rounded, timed } from './measure.ts';
import { send, startBench, tokenOf } from './stored.ts';

const FEW = 10;
const MANY = 5_000;
const FILES_OF_EACH = 20;
/** Of one measure. */
const ROUNDS = 15;
/** Datasets of a page. */
const PAGE = 10;

interface Side {
  readonly folder: string;
  readonly server: Tapedeck;
  readonly token: string;
}

export async function benchDatasets(folder: string, pairs: number): Promise<readonly Ratio[]> {
  const few = await sideOf(join(folder, 'few'), FEW);
  const many = await sideOf(join(folder, 'many'), MANY);
  const of = `${MANY} datasets, ${MANY * FILES_OF_EACH} files`;
  const compared = async (
    bench: string,
    target: string,
    one: (side: Side, round: number) => Promise<unknown>,
  ): Promise<Ratio> => {
    const [ours, bare] = [[] as number[], [] as number[]];
    for (let round = 0; round < ROUNDS * pairs; round += 1) {
      ours.push(await timed(() => one(many, round)));
      bare.push(await timed(() => one(few, round)));
    }
    return figure(`${bench}, ${of}`, target, pairs, ours, bare);
  };
  try {
    const ratios = [
      await compared('a commit that changes a dataset', '<= 1.2 of beside 10', describe),
      await compared('a load of one record', '<= 1.2 of beside 10', load),
      await compared('a page of the list', '<= 1.5 of beside 10', list),
    ];
    await Promise.all([few.server.close(), many.server.close()]);
    return [...ratios, await starts(many.folder, of, pairs)];
  } finally {
    await Promise.allSettled([few.server.close(), many.server.close()]);
  }
}

async function sideOf(folder: string, count: number): Promise<Side> {
  const making = await startBench(folder);
  await send(making, 'ONE', 'symbol,date,close\nA,2024-01-02,1\n');
  // One of them: a tier has 5,000.
  await makeMany(making, count - 1, FILES_OF_EACH);
  await making.close();
  const server = await startBench(folder, {}, {}, false);
  const side = { folder, server, token: await tokenOf(server, 'secret') };
  // What a first list reads of all of them is read once.
  await list(side);
  return side;
}

async function asked({ server, token }: Side, path: string, init: RequestInit = {}): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, ...init.headers };
  const answer = await fetch(`${server.base}/v1${path}`, { ...init, headers });
  if (!answer.ok) throw new Error(await answer.text());
  await answer.arrayBuffer();
}

const describe = (side: Side, round: number): Promise<void> =>
  asked(side, '/datasets/WS/ONE', {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ description: `round ${round}` }),
  });

const load = (side: Side, round: number): Promise<void> =>
  asked(side, '/data/WS/ONE?wait=true&duplicateKeyHandling=replace', {
    method: 'POST',
    body: `symbol,date,close\nA,2024-01-03,${round}\n`,
  });

const list = (side: Side): Promise<void> => asked(side, `/datasets/MANY?limit=${PAGE}`);

/** Until it listens, against one bare read of the same tables. */
async function starts(folder: string, of: string, pairs: number): Promise<Ratio> {
  const [ours, bare] = [[] as number[], [] as number[]];
  for (let round = 0; round <= pairs; round += 1) {
    let server: Tapedeck | undefined;
    const took = await timed(async () => {
      server = await startBench(folder, {}, {}, false);
    });
    await server?.close();
    const read = await timed(async () => readTables(join(folder, 'catalog.db')));
    if (round > 0) [ours.push(took), bare.push(read)];
  }
  return figure(`start, ${of}`, '<= 3 of a bare read of the catalog', pairs, ours, bare);
}

function readTables(path: string): void {
  const reader = new DatabaseSync(path, { readOnly: true });
  for (const table of ['dataset', 'table', 'column', 'data_file', 'file_column_stats']) {
    const name = table === 'dataset' ? table : `ducklake_${table}`;
    reader.prepare(`SELECT * FROM ${name}`).all();
  }
  reader.close();
}

function figure(
  bench: string,
  target: string,
  pairs: number,
  ours: readonly number[],
  bare: readonly number[],
): Ratio {
  const [oursMs, bareMs] = [rounded(median(ours)), rounded(median(bare))];
  return {
    bench,
    target,
    pairs,
    oursMs,
    bareMs,
    ratio: rounded(oursMs / bareMs),
    note: 'ours / bare',
  };
}
