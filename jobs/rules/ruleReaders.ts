// Reads the values of rules by a caller's rights: live quotes, daily figures, and records of datasets.
import { type NamedFact, parseNamedFact } from './runningRule.ts';
import type { RuleReader } from './ruleGroup.ts';
import { dayAt } from '../../market/derive/exchangeTime.ts';
import type { Row } from '../../market/derive/values.ts';
import { type Facts, computeFacts } from '../../market/rules/ruleFacts.ts';
import { allRecords } from '../../market/types/typeRequest.ts';
import { marketType, type MarketType } from '../../market/types/marketTypes.ts';
import type { Literal } from '../../query/rules/conditions.ts';
import type { ValueKind } from '../../query/rules/operators.ts';
import { runSeries } from '../../query/series/series.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure } from '../../store/base/failure.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import { isDated, type PropertyType } from '../../store/lake/versions/columns.ts';
import { findWholeDataset } from '../../reads/rights/access.ts';
import { selectReadableInputs } from '../../reads/market/market.ts';
import { buildTypeRequest } from '../../reads/market/options.ts';
import { readDataset } from '../../reads/series/series.ts';
import type { ReadServices } from '../../reads/request/readServices.ts';
import { buildRights } from '../../reads/streams/quoteRights.ts';
import { findEntitledInputs, type StreamServices } from '../../reads/streams/streamAccess.ts';
import { backgroundRequest } from '../../reads/rights/backgroundRequest.ts';

/** The values of a symbol that stay the same for a day. */
interface DailyValues {
  readonly day: string;
  readonly stats: Row | undefined;
  readonly advanced: Row | undefined;
  readonly dividends: readonly Row[];
  readonly splits: readonly Row[];
}

/** Maximum symbols whose daily values are cached. */
const CACHE_MAX = 5_000;
/** Symbols of one read. */
const BATCH_SIZE = 20;

export type RuleServices = StreamServices & Pick<ReadServices, 'queries' | 'workers'>;

/** The market type of the daily values. */
export function advancedStatsType(): MarketType {
  const type = marketType('advanced-stats');
  if (type === undefined) throw new Failure('SystemError', 'there is no type advanced-stats');
  return type;
}

/** Builds the reader of a caller's rules. @throws Failure if the caller may not read live data. */
export function buildRuleReader(caller: Caller, services: RuleServices): RuleReader {
  const call = backgroundRequest(caller);
  findEntitledInputs({ inputs: ['TRADES', 'QUOTES'] }, call, services);
  const type = advancedStatsType();
  const needsOf = (symbol: string) => type.needs(buildTypeRequest(symbol, {}, services.clock()));
  const readable = selectReadableInputs(type, needsOf(''), call, services.lake);
  const rights = buildRights(readable, call, services);
  const view = services.streams.quotes.view(rights);
  const dailyCache = new Map<string, DailyValues>();
  const findDaily = (symbol: string): DailyValues | undefined => {
    const cached = dailyCache.get(symbol);
    return cached?.day === dayAt(services.clock()) ? cached : undefined;
  };
  return {
    name: `${caller.accountId} ${rights.tableIds.join()}`,
    propertyKind: (fact) => propertyKind(fact, caller, services),
    weightOfNamed: (fact) => datasetOfFact(fact, caller, services).weight,
    isOfOthers: (names) => names.some((name) => isOfOthers(name, caller, services)),
    readsTable: (tableId, facts) => {
      if (rights.tableIds.includes(tableId)) dailyCache.clear();
      return rights.tableIds.includes(tableId) || readsTable(tableId, facts, services);
    },
    prepare: async (symbols) => {
      await services.streams.quotes.prepare(view, symbols);
      const missing = symbols.filter((symbol) => findDaily(symbol) === undefined);
      for (let at = 0; at < missing.length; at += BATCH_SIZE) {
        const chunk = missing.slice(at, at + BATCH_SIZE);
        const actions = chunk.flatMap((symbol) => [
          allRecords('DIVIDENDS', symbol),
          allRecords('SPLITS', symbol),
        ]);
        const read = await rights.read([...chunk.flatMap(needsOf), ...actions]);
        for (const symbol of chunk) {
          if (dailyCache.size >= CACHE_MAX) dailyCache.clear();
          const ask = buildTypeRequest(symbol, {}, services.clock());
          dailyCache.set(symbol, {
            day: ask.today,
            stats: toRow(marketType('stats')?.answer(ask, read)),
            advanced: toRow(type.answer(ask, read)),
            dividends: read(allRecords('DIVIDENDS', symbol)),
            splits: read(allRecords('SPLITS', symbol)),
          });
        }
      }
    },
    facts: (symbol, neededFacts) => {
      const daily = findDaily(symbol);
      const live = services.streams.board.get(symbol);
      if (daily === undefined) return undefined;
      const quote = services.streams.quotes.row(view, symbol, neededFacts.quoteParts);
      return computeFacts({ ...daily, quote, live, nowMs: services.clock() }, neededFacts);
    },
    named: (facts) => readNamedFacts(facts, caller, services),
  };
}

const toRow = (value: unknown): Row | undefined =>
  typeof value === 'object' && value !== null ? (value as Row) : undefined;

/** @throws Failure NotFound, Restricted. */
function datasetOfFact(
  { namespace, workspace }: NamedFact,
  caller: Caller,
  services: RuleServices,
): Dataset {
  return findWholeDataset(caller, workspace, namespace, services);
}

/** Whether a value is computed from data of others; values of symbols are computed from CORE. */
function isOfOthers(name: string, caller: Caller, { lake }: Pick<ReadServices, 'lake'>): boolean {
  const fact = parseNamedFact(name);
  const workspace = fact === undefined || fact.namespace === 'STOCK' ? CORE : fact.workspace;
  return lake.directory.workspace(workspace)?.accountId !== caller.accountId;
}

function readsTable(
  tableId: number,
  facts: readonly NamedFact[],
  { lake }: Pick<ReadServices, 'lake'>,
): boolean {
  const dataset = lake.directory.datasetById(tableId);
  if (dataset === undefined) return false;
  return facts.some(
    ({ namespace, workspace }) =>
      dataset.workspace.toUpperCase() === workspace.toUpperCase() &&
      dataset.dataset.toUpperCase() === namespace,
  );
}

function propertyKind(
  fact: NamedFact,
  caller: Caller,
  services: RuleServices,
): ValueKind | undefined {
  const { schema } = datasetOfFact(fact, caller, services);
  const { properties } = schema;
  const property = Object.hasOwn(properties, fact.fact) ? properties[fact.fact] : undefined;
  if (property === undefined) return undefined;
  const types: readonly unknown[] = [property.type].flat();
  if (types.includes('number') || types.includes('integer')) return 'number';
  if (types.includes('boolean')) return 'boolean';
  return isDated(property) ? 'date' : 'string';
}

/** Reads the latest record of each key, once for each dataset. */
async function readNamedFacts(
  facts: readonly NamedFact[],
  caller: Caller,
  services: RuleServices,
): Promise<Facts> {
  const call = backgroundRequest(caller);
  const values: Record<string, Literal | null> = {};
  const places = new Map(
    facts.map((fact) => [`${fact.workspace}:${fact.namespace}`.toUpperCase(), fact] as const),
  );
  for (const [place, one] of places) {
    const own = facts.filter(
      ({ namespace, workspace }) => `${workspace}:${namespace}`.toUpperCase() === place,
    );
    const dataset = datasetOfFact(one, caller, services);
    const { key } = dataset.mapping;
    const keys = [...new Set(own.map(({ entity }) => entity))];
    const parameters = key === undefined ? { last: 1 } : { keys, last: 1 };
    const { plan } = await readDataset(call, services, dataset, 'data', { own: parameters });
    const { bytes } = await runSeries(plan, 'jsonl', services.series, call);
    const records = parseRecords(bytes);
    for (const { entity, fact, name } of own) {
      const record = records.find((row) => key === undefined || isSame(row[key], entity));
      values[name] = toLiteral(toNumber(record?.[fact], dataset.schema.properties[fact]));
    }
  }
  return values;
}

/** Converts a number that is a text in JSON because of its many digits; conditions compare doubles. */
const toNumber = (value: unknown, property: PropertyType | undefined): unknown =>
  typeof value === 'string' && /^(number|integer)$/.test(property?.type ?? '')
    ? Number(value)
    : value;

const isSame = (value: unknown, key: string): boolean =>
  String(value).toUpperCase() === key.toUpperCase();

const parseRecords = (bytes: Uint8Array): readonly Row[] =>
  Buffer.from(bytes)
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);

function toLiteral(value: unknown): Literal | null {
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)) return value.slice(0, 10);
  return typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean'
    ? value
    : null;
}
