// Lists the charged calls of an account, newest first. Lines of the last hour are in the journal, older ones
// in the dataset `_SYSTEM.CALLS`, which is read like any other.
import type { Static } from 'typebox';
import { Type } from '../../../reads/request/schema.ts';
import { dayIn, endOfDay, startOfDay } from '../../../query/time/dates.ts';
import { runSeries } from '../../../query/series/series.ts';
import { planSeries } from '../../../query/plan/seriesPlan.ts';
import type { Caller } from '../../../store/accounts/callers.ts';
import { type CallLine, parseLines, readJournal } from '../../../store/ledger/journal.ts';
import { CALLS, SYSTEM_WORKSPACE } from '../../../store/lake/systemTables.ts';
import { requireManager, recordVisibility } from '../../../reads/rights/access.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import { dayOf, numberOf } from '../../../reads/request/parameters.ts';
import { tokenNames } from '../../auth/tokenView.ts';

const LINES_DEFAULT = 100;
const LINES_MAX = 1_000;

const LINE = Type.Object({
  requestId: Type.String(),
  time: Type.Integer(),
  endpoint: Type.String(),
  token: Type.String(),
  key: Type.String(),
  objects: Type.Integer(),
  weight: Type.Integer(),
  messages: Type.Integer(),
  premiumMessages: Type.Integer(),
});

export const getCalls: Endpoint = {
  id: 'getCalls',
  method: 'GET',
  path: '/account/usage/calls',
  token: 'secret',
  always: true,
  summary: 'The charged calls, newest first: when, what, how many objects of which weight.',
  weight: 'free',
  parameters: [
    { kind: 'day', name: 'from', help: 'Calls on or after this day of the billing zone.' },
    { kind: 'day', name: 'to', help: 'Calls on or before this day.' },
    {
      kind: 'integer',
      name: 'limit',
      least: 1,
      most: LINES_MAX,
      help: `At most n; ${LINES_DEFAULT} by default.`,
    },
  ],
  answer: Type.Array(LINE),
  failures: 'data',
  handle: async (call, services) => {
    const caller = requireManager(call.caller);
    await services.ledger.flushAll();
    const limit = numberOf(call.query, 'limit') ?? LINES_DEFAULT;
    // If lines move to the dataset between the two reads, they may appear twice but are never lost.
    const waiting = await waitingLines(call, caller, services);
    const lines = [...waiting, ...(await rolledLines(call, caller, limit, services))];
    const byRequest = new Map(lines.map((line) => [line.requestId, line]));
    const newest = [...byRequest.values()].sort((a, b) => b.timeMs - a.timeMs).slice(0, limit);
    const tokens = await services.accounts.tokens(caller.accountId);
    const names = tokenNames(tokens);
    const value = newest.map((line) => toView(line, names.get(line.tokenId) ?? line.tokenId));
    return { kind: 'json', value, metering: 'free' };
  },
};

type Line = Omit<CallLine, 'accountId' | 'month'>;

const toView = (line: Line, token: string): Static<typeof LINE> => ({
  requestId: line.requestId,
  time: line.timeMs,
  endpoint: line.endpoint,
  token,
  key: line.usageKey,
  objects: line.objects,
  weight: line.weight,
  messages: line.messages,
  premiumMessages: line.premium,
});

async function waitingLines(
  { query }: Call,
  { accountId }: Caller,
  { database, settings }: Pick<Services, 'database' | 'settings'>,
): Promise<readonly Line[]> {
  const [from, to] = [dayOf(query, 'from'), dayOf(query, 'to')];
  const fromMs = from === undefined ? 0 : startOfDay(from, settings.zone);
  const untilMs = to === undefined ? Number.MAX_SAFE_INTEGER : endOfDay(to, settings.zone);
  const rows = await readJournal(database, fromMs, untilMs);
  return rows
    .flatMap(({ text }) => parseLines(text))
    .filter((line) => line.accountId === accountId)
    .filter(({ timeMs }) => timeMs >= fromMs && timeMs < untilMs);
}

async function rolledLines(
  call: Call,
  caller: Caller,
  limit: number,
  { clock, lake, series, settings }: Pick<Services, 'clock' | 'lake' | 'series' | 'settings'>,
): Promise<readonly Line[]> {
  const dataset = lake.directory.dataset(SYSTEM_WORKSPACE, CALLS.dataset);
  const table = dataset === undefined ? undefined : await lake.table(dataset.tableId);
  if (dataset === undefined || table === undefined) return [];
  const [from, to] = [dayOf(call.query, 'from'), dayOf(call.query, 'to')];
  const range = {
    limit,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
  const plan = planSeries(range, {
    dataset,
    table,
    visibility: recordVisibility(caller, dataset, { lake, clock, settings }),
    rowsMax: LINES_MAX,
    today: dayIn(clock(), settings.zone),
    zone: settings.zone,
    shape: 'time-series',
  });
  const { bytes } = await runSeries(plan, 'json', series, call);
  const rows = JSON.parse(new TextDecoder().decode(bytes)) as (Line & { readonly date: number })[];
  return rows.map((row) => ({ ...row, timeMs: row.date }));
}
