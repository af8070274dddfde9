// The server of a simulated month, in a process of its own, so that its memory can be measured and it can be
// killed. Orders on stdin, one JSON line each, set its clock and run the work of its timers; every order
// is answered by a line. Arguments: the folder, and the start time.
import { createInterface } from 'node:readline';
import { FLUSH_AGE_MS, FLUSH_ROWS } from '../../jobs/run/flush.ts';
import { rollWhenDue } from '../../jobs/upkeep/journalRoll.ts';
import { makeUpkeep } from '../../jobs/upkeep/upkeep.ts';
import { keepModules } from '../base/program.ts';
import { startServer } from '../base/server.ts';

export type SubjectOrder =
  | { readonly order: 'clock'; readonly ms: number }
  | { readonly order: 'tick' }
  /** Runs all due work, minute by minute, each until it has ended. */
  | { readonly order: 'schedules'; readonly fromMs: number; readonly untilMs: number }
  | { readonly order: 'counts' }
  | { readonly order: 'close' };

/** Counts of the catalog, and the heap of the server. */
export interface SubjectCounts {
  readonly snapshots: number;
  readonly files: number;
  readonly filesLive: number;
  readonly catalogRows: number;
  readonly rowsByTable: Readonly<Record<string, number>>;
  readonly heapBytes: number;
}

const DAY_HOURS = 24;
/** Short enough that a month includes each of the three kinds of thinning. */
const RETENTION = { TAPEDECK_KEEP_ALL: String(DAY_HOURS), TAPEDECK_KEEP_HOURLY: '3' };

const [folder = '', startMs = '0', ...pairs] = process.argv.slice(2);
const extraSettings = Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]));
let offsetMs = Number(startMs) - Date.now();

const server = await startServer({
  folder,
  settings: { ...RETENTION, TAPEDECK_KEEP_DAILY: '5', ...extraSettings },
  seams: { clock: () => Date.now() + offsetMs, watch: false },
});
keepModules();
const { services } = server.tapedeck;
const { keepAllMs: allMs, keepHourlyMs: hourlyMs, keepDailyMs: dailyMs } = services.settings;
const upkeep = makeUpkeep({ ...services, keep: { allMs, hourlyMs, dailyMs } });

/** One run of each timer. */
async function tick(): Promise<void> {
  const { lake, pending, runner } = services;
  await rollWhenDue(services.journal);
  for (const tableId of pending.listDue(FLUSH_ROWS, FLUSH_AGE_MS)) {
    const dataset = lake.directory.datasetById(tableId);
    if (dataset === undefined) continue;
    await runner.inTurn(dataset.workspace, dataset.dataset, async () => undefined);
  }
  await upkeep.compactChanged();
  await upkeep.expireVersions();
}

const TABLES = [
  'ducklake_snapshot',
  'ducklake_snapshot_changes',
  'ducklake_data_file',
  'ducklake_delete_file',
  'ducklake_file_column_stats',
  'pending',
  'journal',
  'job',
  'log',
  'usage',
] as const;

async function counts(): Promise<SubjectCounts> {
  // Only memory that is still referenced after a collection can show a leak.
  globalThis.gc?.();
  const { database } = services;
  const rowsByTable: Record<string, number> = {};
  for (const table of TABLES) {
    const counted = database.selectFrom(table).select((select) => select.fn.countAll().as('rows'));
    rowsByTable[table] = Number((await counted.executeTakeFirst())?.rows ?? 0);
  }
  const live = async (table: 'ducklake_data_file' | 'ducklake_delete_file'): Promise<number> => {
    const rows = database.selectFrom(table).where('end_snapshot', 'is', null);
    const counted = rows.select((select) => select.fn.countAll().as('rows'));
    return Number((await counted.executeTakeFirst())?.rows ?? 0);
  };
  return {
    snapshots: rowsByTable['ducklake_snapshot'] ?? 0,
    files: (rowsByTable['ducklake_data_file'] ?? 0) + (rowsByTable['ducklake_delete_file'] ?? 0),
    filesLive: (await live('ducklake_data_file')) + (await live('ducklake_delete_file')),
    catalogRows: Object.values(rowsByTable).reduce((sum, rows) => sum + rows, 0),
    rowsByTable,
    heapBytes: process.memoryUsage().heapUsed,
  };
}

async function runSchedules(fromMs: number, untilMs: number): Promise<void> {
  const { runner, scheduler } = services;
  for (let ms = fromMs; ms <= untilMs; ms += 60_000) {
    offsetMs = ms - Date.now();
    const busy = (): boolean => runner.load().running + runner.load().waiting > 0;
    while ((await scheduler.takeDue()) > 0 || busy()) {
      while (busy()) await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}

async function obey(order: SubjectOrder): Promise<unknown> {
  if (order.order === 'clock') offsetMs = order.ms - Date.now();
  if (order.order === 'tick') await tick();
  if (order.order === 'schedules') await runSchedules(order.fromMs, order.untilMs);
  if (order.order === 'counts') return counts();
  if (order.order === 'close') await server.close();
  return null;
}

const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

say({ base: server.base, publishable: server.publishable, secret: server.secret });
const orders = createInterface({ input: process.stdin });
orders.on('line', (line) => {
  const order = JSON.parse(line) as SubjectOrder;
  const reply = obey(order).then(
    (value) => say({ value }),
    (error: unknown) => say({ failed: error instanceof Error ? error.message : String(error) }),
  );
  if (order.order === 'close') void reply.then(() => process.exit(0));
});
orders.on('close', () => process.exit(1));
