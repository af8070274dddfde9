// Measures cold series reads over HTTP with authentication and metering, against bare DuckDB in a separate
// process over the same files. Each request reads the window of one key.
import { join } from 'node:path';
import { byMedian, type Client, openClient } from '../http/clientProcess.ts';
import { getRequests } from '../http/order.ts';
import { type BenchServer, serveFilled } from '../http/server.ts';
import { invertRatio, type Ratio, measureRatio, type Measurement } from '../base/measure.ts';
import { listFiles, fillDaily, symbolOf, SYMBOLS } from '../base/stored.ts';
import { openBareReader } from './bareReadsProcess.ts';

/** Requests per measurement; each has a different symbol, so that no answer repeats. */
const REQUESTS = 200;

/** Records per read. */
export const LASTS = [1, 30, 252] as const;

export const READ_NOTE =
  'ours over HTTP with token, metering and JSON; bare in its process, rows to JSON text';

export async function benchSeries(
  folder: string,
  rows: number,
  pairs: number,
): Promise<readonly Ratio[]> {
  const { content: files, server } = await serveFilled(
    join(folder, 'series'),
    {},
    async (tapedeck) => {
      await fillDaily(tapedeck, folder, 'D', rows);
      return listFiles(tapedeck, 'D');
    },
  );
  await using stack = new AsyncDisposableStack();
  stack.use(server);
  const [client, bare] = [stack.use(openClient()), stack.use(openBareReader())];
  const ratios: Ratio[] = [];
  for (const last of LASTS) {
    const name = `cold series, last ${last}, ${rows} stored`;
    const ratio = await measureRatio(
      { name, target: '<= 1.5 (our time / bare time)', pairs },
      (round) => coldReads({ client, server, dataset: 'D' }, last, roundKeys(round)),
      (round) => bare.read({ files, last, keys: roundKeys(round) }),
    );
    ratios.push({ ...invertRatio(ratio), note: READ_NOTE });
  }
  return ratios;
}

interface Read {
  readonly client: Client;
  readonly server: BenchServer;
  readonly dataset: string;
}

/** Reads the last records of one key after another over HTTP; `more` is appended to the query. */
export async function coldReads(
  { client, dataset, server }: Read,
  last: number,
  keys: readonly string[],
  more = '&cache=false',
): Promise<Measurement> {
  const query = `last=${last}${more}&token=${server.publishable}`;
  const requests = getRequests(keys.map((key) => `/v1/data/WS/${dataset}/${key}?${query}`));
  return byMedian(await client.drive(server, { requests, connections: 1, count: keys.length }));
}

/** Returns the distinct keys of a round. */
export const roundKeys = (round: number, symbols = SYMBOLS): readonly string[] =>
  Array.from({ length: REQUESTS }, (_, at) => symbolOf((at * 7919 + round * 104_729) % symbols));
