// Random records into datasets with random contracts and expectations: every received record is ingested,
// rejected, quarantined or a duplicate; the stored records fit the schema and the expectations; a dry run
// reports all of it before; old versions return the same records as before.
import assert from 'node:assert/strict';
import { type Seeded, seeded } from '../crash/rounds/seeded.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const FATES = ['evolve', 'freeze', 'discard_record', 'discard_value'] as const;
const ACTIONS = ['quarantine', 'reject', 'fail', 'warn'] as const;
const SCHEMA = {
  symbol: { type: 'string' },
  date: { type: 'string', format: 'date' },
  low: { type: 'number' },
  high: { type: 'number' },
  volume: { type: 'integer' },
  live: { type: 'boolean' },
};
/** Loads of one case. */
const LOADS = 3;

type JsonObject = Readonly<Record<string, unknown>>;
type Properties = Readonly<Record<string, { readonly type: string; readonly format?: string }>>;

/** Plays `count` cases of some loads each; returns how many records were read. */
export async function contractsLaw(count: number, seed: number): Promise<number> {
  await using server = await startServer();
  const random = seeded(seed);
  let records = 0;
  for (let at = 0; at < count; at += 1) {
    const label = `case ${at} of seed ${seed}`;
    records += await playCase(server, `D${at}`, random.fork(), label);
  }
  return records;
}

async function playCase(
  server: TestServer,
  id: string,
  random: Seeded,
  label: string,
): Promise<number> {
  const schemaContract = { columns: random.pick(FATES), types: random.pick(FATES) };
  const expectations = expectationsOf(random);
  const columnMapping = { key: 'symbol', date: 'date' };
  const members = { schemaContract, expectations, columnMapping };
  const dataset = { datasetId: id, schema: { properties: SCHEMA }, ...members };
  await ask(server, 'POST', '/datasets/WS', JSON.stringify({ dataset }));
  let records = 0;
  for (let nth = 0; nth < LOADS; nth += 1) {
    const rows = Array.from({ length: random.between(1, 12) }, () => recordOf(random));
    const body = random.chance(0.5) ? csvOf(rows) : JSON.stringify(rows);
    const duplicates = random.pick(['ignore', 'replace']);
    const query = `?duplicateKeyHandling=${duplicates}`;
    const where = `${label}, load ${nth} (${JSON.stringify(members)}):\n${body}`;
    await playLoad(server, id, { body, query, read: rows.length, duplicates }, where);
    records += rows.length;
  }
  await checkRecords(server, id, expectations, label);
  return records;
}

interface Played {
  readonly body: string;
  readonly query: string;
  readonly read: number;
  readonly duplicates: string;
}

async function playLoad(
  server: TestServer,
  id: string,
  { body, query, read, duplicates }: Played,
  where: string,
): Promise<void> {
  const path = `/data/WS/${id}`;
  const before = await allOf(server, id);
  const { snapshot } = server.tapedeck.services.lake;
  const dry = (await ask(server, 'POST', `${path}${query}&dryRun=true`, body)) as JsonObject;
  assert.deepEqual(await allOf(server, id), before, `changed by a dry run: ${where}`);
  const response = (await ask(server, 'POST', `${path}${query}`, body)) as {
    readonly jobId: string;
  };
  const { runner } = server.tapedeck.services;
  const job = await runner.ended(response.jobId);
  const reason = dry['error'] ?? null;
  assert.deepEqual(
    [job.status, job.error],
    [reason === null ? 'INGESTED' : 'ERROR', reason],
    where,
  );
  assert.deepEqual(await allOf(server, id, snapshot), before, `the old version changed: ${where}`);
  // The reason contains no messages of the engine.
  assert.doesNotMatch(String(reason), /Error|CAST|convert/, where);
  if (reason !== null) {
    assert.deepEqual(await allOf(server, id), before, `ingested by a failed load: ${where}`);
    return;
  }
  const { records_duplicate, records_ingested, records_invalid, records_quarantined } = job;
  assert.deepEqual(
    [records_ingested, records_invalid, records_quarantined, records_duplicate],
    ['Ingested', 'Invalid', 'Quarantined', 'Duplicate'].map((name) => dry[`records${name}`]),
    `the dry run reported other counts: ${where}`,
  );
  const met = records_ingested + records_invalid + records_quarantined;
  // A record that replaces a stored one is ingested, and counted as a duplicate as well.
  if (duplicates === 'ignore') assert.equal(met + records_duplicate, read, where);
  else assert.ok(met <= read && met + records_duplicate >= read, where);
  const [schema, sample] = [dry['schema'], dry['sample'] as readonly JsonObject[]];
  assert.deepEqual(schemaOf(server, id), schema, where);
  const rows = new Set(
    ((await allOf(server, id)) as readonly JsonObject[]).map((one) => JSON.stringify(one)),
  );
  for (const row of sample)
    assert.ok(rows.has(JSON.stringify(row)), `${JSON.stringify(row)}: ${where}`);
}

const schemaOf = ({ tapedeck }: TestServer, id: string): unknown =>
  tapedeck.services.lake.directory.dataset('WS', id)?.schema;

async function checkRecords(
  server: TestServer,
  id: string,
  expectations: readonly JsonObject[],
  label: string,
): Promise<void> {
  const { properties } = schemaOf(server, id) as { readonly properties: Properties };
  for (const record of (await allOf(server, id)) as readonly JsonObject[]) {
    assert.deepEqual(Object.keys(record), Object.keys(properties), label);
    for (const [name, property] of Object.entries(properties)) {
      const value = record[name];
      assert.ok(
        value === null || fits(value, property),
        `${label}: ${name} ${JSON.stringify(value)}`,
      );
    }
    for (const one of expectations) {
      if (one['action'] !== 'warn')
        assert.ok(keeps(record, one), `${label}: ${JSON.stringify(record)}`);
    }
  }
}

function fits(value: unknown, { type, format }: Properties[string] & object): boolean {
  if (format === 'date') return /^\d{4}-\d\d-\d\d$/.test(String(value));
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

/** Checks a record against an expectation by plain comparisons. */
function keeps(record: JsonObject, one: JsonObject): boolean {
  if ('notNull' in one) return record[String(one['notNull'])] !== null;
  const { low, high, volume } = record;
  if ('compare' in one)
    return [low, high].some((v) => typeof v !== 'number') || Number(low) <= Number(high);
  return typeof volume !== 'number' || volume >= 0;
}

function expectationsOf(random: Seeded): readonly JsonObject[] {
  const some = [
    { compare: ['low', '<=', 'high'] },
    { range: { property: 'volume', min: 0 } },
    { notNull: 'live' },
  ];
  return some
    .filter(() => random.chance(0.4))
    .map((rule) => ({ ...rule, action: random.chance(0.6) ? 'quarantine' : random.pick(ACTIONS) }));
}

/** Mostly valid values, some that fit only a wider type, some of new columns. */
function recordOf(random: Seeded): JsonObject {
  const number = (): unknown => random.between(-2, 8) / random.pick([1, 1, 2]);
  return {
    symbol: random.chance(0.05) ? '' : random.pick(['A', 'B', 'C', 'D']),
    date: random.chance(0.05) ? 'soon' : `2020-01-0${random.between(1, 9)}`,
    low: random.chance(0.05) ? 'cheap' : number(),
    high: random.chance(0.1) ? null : number(),
    volume: random.chance(0.05) ? random.pick<unknown>(['many', 1.5]) : random.between(-1, 20),
    live: random.chance(0.05) ? 'perhaps' : random.pick([true, true, false, null]),
    ...(random.chance(0.15) ? { more: random.pick<unknown>([1, 2.5, 'text', '2020-01-31']) } : {}),
  };
}

function csvOf(rows: readonly JsonObject[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => names.map((name) => String(row[name] ?? '')).join(','));
  return `${[names.join(','), ...lines].join('\n')}\n`;
}

async function allOf(server: TestServer, id: string, asOf?: number): Promise<unknown> {
  const version = asOf === undefined ? '' : `&asOf=${asOf}`;
  return ask(server, 'GET', `/data/WS/${id}?limit=1000&sort=asc${version}`);
}

async function ask(
  server: TestServer,
  method: string,
  path: string,
  body?: string,
): Promise<unknown> {
  const separator = path.includes('?') ? '&' : '?';
  const url = `${server.base}/v1${path}${separator}token=${server.secret}`;
  const answer = await fetch(url, { method, ...(body === undefined ? {} : { body }) });
  const text = await answer.text();
  assert.equal(answer.status, 200, `${method} ${path}: ${text}`);
  return JSON.parse(text) as unknown;
}
