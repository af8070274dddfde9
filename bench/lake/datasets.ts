// Measures the cost of many datasets for requests of one: commits, a page of the list, and the start, with
// 5,000 datasets of 20 files each and with 10.
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import type { Tapedeck } from '../../app/main.ts';
import { makeMany } from '../../test/store/lake/manyDatasets.ts';
import { byMedian, type Client, openClient } from '../http/clientProcess.ts';
import type { RequestSpec } from '../http/order.ts';
import { type BenchServer, serveFilled } from '../http/server.ts';
import {
  invertRatio,
  type Pair,
  type Ratio,
  measureRatio,
  computeRatio,
  measureMs,
} from '../base/measure.ts';
import { send, startBench } from '../base/stored.ts';

const FEW = 10;
const MANY = 5_000;
const FILES_OF_EACH = 20;
/** Rounds per measurement. */
const ROUNDS = 15;
/** Datasets per page. */
const PAGE = 10;

/** Builds the request of a round. */
type BuildRequest = (server: BenchServer, round: number) => RequestSpec;

export async function benchDatasets(folder: string, pairs: number): Promise<readonly Ratio[]> {
  const of = `${MANY} datasets, ${MANY * FILES_OF_EACH} files`;
  const place = join(folder, 'many');
  const ratios = await compareAll(join(folder, 'few'), place, of, pairs);
  return [...ratios, await measureStart(place, of, pairs)];
}

async function compareAll(
  fewPlace: string,
  manyPlace: string,
  of: string,
  pairs: number,
): Promise<readonly Ratio[]> {
  await using stack = new AsyncDisposableStack();
  const client = stack.use(openClient());
  const few = stack.use(await startFilled(client, fewPlace, FEW));
  const many = stack.use(await startFilled(client, manyPlace, MANY));
  const compare = async (
    name: string,
    target: string,
    buildRequest: BuildRequest,
  ): Promise<Ratio> => {
    const once = async (server: BenchServer, round: number) =>
      byMedian(await client.drive(server, singleRequest(buildRequest(server, round))));
    const rounds: Pair[] = [];
    for (let round = 0; round < ROUNDS * pairs; round += 1) {
      rounds.push({ ours: await once(many, round), bare: await once(few, round) });
    }
    const bench = { name: `${name}, ${of}`, target, pairs };
    return { ...invertRatio(computeRatio(bench, rounds)), note: 'ours / bare' };
  };
  return [
    await compare('a commit that changes a dataset', '<= 1.2 of beside 10', describe),
    await compare('a load of one record', '<= 1.2 of beside 10', load),
    await compare('a page of the list', '<= 1.5 of beside 10', list),
  ];
}

const singleRequest = (request: RequestSpec) => ({ requests: [request], connections: 1, count: 1 });

async function startFilled(client: Client, folder: string, count: number): Promise<BenchServer> {
  const { server } = await serveFilled(folder, {}, async (making) => {
    await send(making, 'ONE', 'symbol,date,close\nA,2024-01-02,1\n');
    // One dataset exists already, and the tier allows 5,000.
    await makeMany(making, count - 1, FILES_OF_EACH);
  });
  // The first list reads data of all datasets once; it is not measured.
  await client.drive(server, singleRequest(list(server, 0)));
  return server;
}

const describe: BuildRequest = ({ secret }, round) => ({
  path: '/v1/datasets/WS/ONE',
  method: 'PATCH',
  headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
  body: JSON.stringify({ description: `round ${round}` }),
});

const load: BuildRequest = ({ secret }, round) => ({
  path: '/v1/data/WS/ONE?wait=true&duplicateKeyHandling=replace',
  method: 'POST',
  headers: { authorization: `Bearer ${secret}` },
  body: `symbol,date,close\nA,2024-01-03,${round}\n`,
});

const list: BuildRequest = ({ secret }) => ({
  path: `/v1/datasets/MANY?limit=${PAGE}`,
  headers: { authorization: `Bearer ${secret}` },
});

/** Measures a start until the server listens, against one bare read of the same tables. */
async function measureStart(folder: string, of: string, pairs: number): Promise<Ratio> {
  const bench = { name: `start, ${of}`, target: '<= 3 of a bare read of the catalog', pairs };
  const ratio = await measureRatio(
    bench,
    async () => {
      let server: Tapedeck | undefined;
      const took = await measureMs(async () => {
        server = await startBench(folder, {}, {}, false);
      });
      await server?.close();
      return took;
    },
    () => measureMs(async () => readTables(join(folder, 'catalog.db'))),
  );
  return { ...invertRatio(ratio), note: 'ours / bare' };
}

function readTables(path: string): void {
  const reader = new DatabaseSync(path, { readOnly: true });
  for (const table of ['dataset', 'table', 'column', 'data_file', 'file_column_stats']) {
    const name = table === 'dataset' ? table : `ducklake_${table}`;
    reader.prepare(`SELECT * FROM ${name}`).all();
  }
  reader.close();
}
