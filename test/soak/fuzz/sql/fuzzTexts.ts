// Hostile texts against a server: each is answered, refused or ended by a limit, and reveals no data of
// other accounts.
import { createWorkspace } from '../../../../store/lake/datasetEdits.ts';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';
import { fillServer } from '../../../query/sql/shelves.ts';
import type { FuzzOrder, FuzzReport } from '../http/requests.ts';
import { hostileText } from './texts.ts';
import { ask, type Answer, DEADLINE_SLACK_MS, leakOf } from './verdicts.ts';
import { openWorld, type World } from './world.ts';

/** Two child processes answer SQL: more requests would only queue. */
const AT_ONCE = 2;
/** Maximum of reported failures; the run stops there. */
const REPORTED_MAX = 20;

export async function fuzzTexts({ count, seed, log }: FuzzOrder): Promise<FuzzReport> {
  await using world = await openWorld();
  const { lake } = world.server.tapedeck.services;
  await createWorkspace(lake, LAB, world.server.tapedeck.accountId, 0);
  await fillServer(world.server, LAB);
  const failures: string[] = [];
  const statuses = new Map<number, number>();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < count && failures.length < REPORTED_MAX; at = next++) {
      const random = seeded(seed * 1_000_003 + at);
      const sql = hostileText(random);
      const query = random.pick(QUERIES);
      const asker = random.chance(0.1) ? 'narrow' : 'owner';
      const answer = await sendText(world, random, { sql, asker }, query);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      const fault = textFault(world, { sql, asker }, answer);
      if (fault !== undefined)
        failures.push(`seed ${seed}, text ${at}: ${fault}\n${JSON.stringify({ sql, ...query })}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  failures.push(...(await world.faults()).map((fault) => `seed ${seed}, at the end: ${fault}`));
  const statusCounts = [...statuses]
    .toSorted(([a], [b]) => a - b)
    .map(([status, n]) => `${n} x ${status}`);
  log(`seed ${seed}: ${Math.min(next, count)} texts, ${statusCounts.join(', ')}`);
  return { runs: Math.min(next, count), failures };
}

type Text = Parameters<typeof leakOf>[1];

/** A workspace with the datasets that the valid SELECTs read. */
const LAB = 'LAB';

const QUERIES: readonly [Readonly<Record<string, string>>, ...Readonly<Record<string, string>>[]] =
  [
    ...([{}, {}, {}, {}, {}, {}] as const),
    { format: 'csv' },
    { format: 'arrow' },
    { format: 'parquet' },
    { format: 'jsonl' },
    { schema: 'true' },
    { explain: 'true' },
    { estimate: 'true' },
    { maxMessages: '3' },
    { includeSystemRecordProperties: 'true' },
    { asOf: '2020-01-01' },
  ];

function sendText(
  world: World,
  random: Seeded,
  { asker, sql }: Text,
  query: Readonly<Record<string, string>>,
): Promise<Answer> {
  const parameters = random.chance(0.1)
    ? `{"p":${JSON.stringify(random.pick(VALUES))}}`
    : undefined;
  const workspace = /\bt1\b/.test(sql) || random.chance(0.3) ? LAB : 'WS';
  const way = random.chance(0.5) || parameters !== undefined ? 'json' : 'text';
  return ask(world, { asker, parameters, sql, workspace }, way, query);
}

const VALUES: readonly [unknown, ...unknown[]] = [
  ...(['x', `'; DROP TABLE x; --`, 'OTHER.SECRETS', 1, 1e308, true, null, '\\', 'é'] as const),
];

function textFault(world: World, text: Text, answer: Answer): string | undefined {
  const { body, ms, status } = answer;
  if (ms > AT_ONCE * (world.deadlineMs + DEADLINE_SLACK_MS))
    return `${Math.round(ms)} ms for ${status}`;
  const leak = leakOf(world, text, answer);
  if (leak !== undefined) return leak;
  if (status === 200 && body.startsWith('[')) {
    try {
      JSON.parse(body);
    } catch {
      return `an answer that is not JSON: ${body.slice(0, 300)}`;
    }
  }
  const isExpected = [200, 400, 401, 402, 404, 413, 504].includes(status);
  return isExpected ? undefined : `status ${status}: ${body.slice(0, 300)}`;
}
