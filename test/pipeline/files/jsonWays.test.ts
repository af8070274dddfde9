// JSON that read_json may read typed, and the same file read as text: one table and the same rejects,
// for lines of any content (pipeline/values/jsonSpelling.ts has the conditions of the first way).
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { openRelation } from '../../../pipeline/decode/decode.ts';
import { ingest } from '../../../pipeline/merge/ingest.ts';
import { jsonRecords } from '../../../pipeline/values/jsonRecords.ts';
import { type Relation, typedRelation } from '../../../pipeline/values/relation.ts';
import { reasonOf } from '../../../store/base/failure.ts';
import { type Load, silentEvents } from '../../../pipeline/conform/load.ts';
import { identifier } from '../../../store/duckdb/sqlText.ts';
import type { Workbench } from '../../../pipeline/bytes/workbench.ts';
import { read } from '../../base/client.ts';
import { type Seeded, seeded } from '../../soak/crash/rounds/seeded.ts';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { startServer, type TestServer } from '../../base/server.ts';

/** Files of a seed: each is loaded four times. */
const FILES = 3;
/** More than the sample of a file: the lines after it have to be checked. */
const SAMPLED = 2_010;

let server: TestServer;
let folder: string;
beforeAll(async () => {
  server = await startServer();
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-json-'));
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** Members of usual records, with the spellings of their values. */
const USUAL = {
  symbol: ['"A"', '"B C"', '"É"', '"a\\"b\\\\"', '"\\u0041b"'],
  date: ['"2020-01-01"', '"2024-02-29"', '"0001-12-31"', '"9999-12-31"'],
  whole: ['0', '-1', '12', '999999999999999999', 'null', '-0', '-999999999999999999'],
  real: ['1.10', '0.1e-7', '1e5', '-0.0', '-0', '7', '9999999999999.5', 'null', '1E+22'],
  long: ['0.30000000000000004', '2.2250738585072014e-99', '12345678.123456789'],
  flag: ['true', 'false', 'null'],
  text: ['"x"', '""', '"1.10"', '"\\n\\/\\ud83d\\ude00"', 'null', '"{\\"real\\":1}"', '1.50'],
  time: ['"2020-01-01T10:00:00Z"', '"2020-01-01 10:00:00+02:00"', 'null'],
  day: ['"20/12/2020"', '"31/01/2021"', 'null'],
} as const;

/** Values that something is wrong with, or that are of another type. */
const ODD = [
  '12.75',
  '1e400',
  '99999999999999999.5',
  '123456789012345678.123456789',
  '12345678901234567890',
  '-9223372036854775809',
  '12.0',
  'true',
  '"true"',
  '"7"',
  '""',
  '"2020-02-30"',
  '"2020-13-01"',
  '"2020-01-01T00:00:00"',
  '"2020-1-1"',
  '[1, 2]',
  '{"b": 1.0, "a": [null]}',
  '"NaN"',
  '" 5 "',
  '1e99',
  '-0.0',
  '1e-300',
  'null',
  'false',
  '"\\ud800"',
  '0.1e-400',
  '9223372036854775808',
  '"0000-00-00"',
  '-1e0',
  '"\\u0000"',
] as const;

/** Lines that are no usual record. */
const ODD_LINES = [
  'null',
  '[1]',
  '3',
  '"text"',
  'no JSON',
  '{',
  '',
  '   ',
  '{}',
  '{"symbol":"Z","date":"2021-01-01"',

  '{"symbol":"Z","date":"2021-01-01","symbol":"Y"}',
  '{"late":1,"date":"2021-01-01","symbol":"L"}',
  '{"symbol":"Z","date":"2021-01-01","late":{"x":1}}',
  '{"date":"2021-01-01","symbol":"M"}',
  '{"\\u0073ymbol":"N","date":"2021-01-01"}',
  '{"symbol":"O","date":"2021-01-01","WHOLE":1}',
  '{"symbol":"P","date":"2021-01-01",}',
  '  { "symbol" : "Q" ,\t"date" : "2021-01-01" }  ',

  '{"symbol":"R","date":"2021-01-01"} {}',
  `{"symbol":"S","date":"2021-01-01","text":"${'x'.repeat(65_536)}"}`,
  '{"symbol":"","date":"2021-01-01"}',
  '{"symbol":null,"date":"2021-01-01"}',
  '{"symbol":"T"}',

  `{"symbol":"${'k'.repeat(1_501)}","date":"2021-01-01"}`,
  '{"symbol":"U","date":"2021-01-01","real":1,"real":2}',
] as const;

type Spellings = readonly [string, ...(readonly string[])];

/** The parameters of a generated file. */
interface Making {
  readonly random: Seeded;
  readonly members: readonly string[];
  /** Probabilities of odd values, odd lines, members left out, members in another order. */
  readonly odd: number;
  readonly oddLines: number;
  readonly missing: number;
  readonly turned: number;
}

function recordOf(making: Making, at: number): string {
  const { missing, odd, oddLines, random, turned } = making;
  if (random.chance(oddLines)) return random.pick(ODD_LINES);
  const recordMembers = making.members.filter(
    (name) => name === 'symbol' || name === 'date' || !random.chance(missing),
  );
  const texts = recordMembers.map((name) => {
    const usual: Spellings = USUAL[name as keyof typeof USUAL];
    // Each record has its own key: most records stay in the table.
    if (name === 'symbol' && random.chance(0.95)) return `"symbol":"K${at}"`;
    return `"${name}":${random.pick(random.chance(odd) ? ODD : usual)}`;
  });
  if (random.chance(turned)) texts.reverse();
  return `{${texts.join(',')}}`;
}

/** A third of the files are short and odd all over; the others are usual within the sample. */
function fileOf(random: Seeded, at: number): string {
  const optionalMembers = Object.keys(USUAL).slice(2);
  const members = ['symbol', 'date', ...optionalMembers.filter(() => random.chance(0.7))];
  const [odd, oddLines] = at % 3 === 0 ? [0, 0] : [random.next() * 0.01, random.next() * 0.03];
  const missing = random.chance(0.5) ? 0 : 0.1;
  const usual = { random, members, odd: 0, oddLines: 0, missing, turned: 0 };
  const making = { ...usual, odd, oddLines, turned: at % 3 === 0 ? 0 : random.next() * 0.003 };
  const head = at % 3 === 2 ? 0 : SAMPLED;
  const lines = Array.from({ length: head + 60 }, (_, line) =>
    recordOf(line < head ? usual : making, line),
  );
  return `${lines.join('\n')}\n`;
}

/**
 * The names of members by the plain statement, of records that can be stored, in order of first use.
 */
async function namesOf(relation: Extract<Relation, { kind: 'json' }>, bench: Workbench) {
  const statement = `SELECT name FROM (
      SELECT n, unnest(json_keys(json)) AS name, generate_subscripts(json_keys(json), 1) AS place
      FROM (SELECT row_number() OVER () AS n, json FROM ${jsonRecords(relation)}
        WHERE json_type(json) = 'OBJECT' AND strlen(json) <= 65536))
    GROUP BY name ORDER BY min((n, place))`;
  const [rows = []] = await bench.pool.rows({
    files: [relation.path],
    statements: [statement],
    deadlineMs: bench.deadlineMs,
  });
  return rows.map((row) => String(row['name']));
}

/** The result of a load: its counts and rejects or its failure, the schema, and the table. */
async function outcomeOf(load: Load): Promise<unknown> {
  const { ingestion, lake } = server.tapedeck.services;
  const result = await ingest(load, 'test', ingestion, silentEvents, async () => undefined).catch(
    (error: unknown) => reasonOf(error).replaceAll(load.dataset, 'X'),
  );
  const dataset = lake.directory.dataset('WS', load.dataset);
  if (dataset === undefined) return { result };
  const records = await read(server, `/data/WS/${load.dataset}?limit=100000&sort=asc`);
  return { result, schema: dataset.schema, mapping: dataset.mapping, records };
}

const asText = (relation: Relation): Relation => ({
  ...relation,
  columns: relation.columns.map(({ name, inferred }) => ({ name, inferred })),
});

/** Loads a file both ways, each into a dataset of its own; returns whether it was read typed. */
async function compare(
  path: string,
  name: string,
  more: Pick<Load, 'duplicates'>,
): Promise<boolean> {
  const { deadlineMs, pool } = server.tapedeck.services.ingestion;
  const bench = { pool, folder, deadlineMs, onProgress: () => undefined };
  const relation = await openRelation({ path }, bench).catch(reasonOf);
  const load = {
    path,
    workspace: 'WS',
    rejectsMax: 1e6,
    ...more,
  } as const;
  if (typeof relation === 'string') return false;
  assert(relation.kind === 'json');
  assert.deepEqual(
    relation.columns.map((column) => column.name).map(identifier),
    (await namesOf(relation, bench)).map(identifier),
  );
  const typed = await outcomeOf({ ...load, relation, dataset: `${name}_TYPED` });
  const text = await outcomeOf({ ...load, relation: asText(relation), dataset: `${name}_TEXT` });
  // Notes name the dataset.
  const own = JSON.stringify(text).replaceAll(`${name}_TEXT`, `${name}_TYPED`);
  assert.deepEqual(typed, JSON.parse(own));
  return typedRelation(relation, []) !== undefined;
}

test('read typed or as text, a file of awkward JSON makes the same table', async (t) => {
  let [typed, texts] = [0, 0];
  for (const seed of seedsOf(t)) {
    const random = seeded(seed);
    for (let at = 0; at < FILES; at += 1) {
      // The second file is loaded into an existing dataset.
      for (const duplicates of ['ignore', 'replace'] as const) {
        const body = fileOf(random, at);
        const path = join(folder, `${seed}_${at}_${duplicates}`);
        await writeFile(path, body);
        const was = await compare(path, `W${seed}_${at}`, { duplicates });
        if (was) typed += 1;
        else texts += 1;
      }
    }
  }
  note(t, `${typed} files were read typed, ${texts} as text`);
  assert(typed >= FILES / 2, `only ${typed} files were read typed`);
  assert(texts >= FILES, `only ${texts} files were read as text`);
});

test('a member that only an oversized record has is no column, for any length of the file', async () => {
  const large = `{"symbol":"S","date":"2021-01-01","text":"${'x'.repeat(65_536)}"}`;
  for (const records of [10, SAMPLED]) {
    const lines = Array.from({ length: records }, (_, at) => `{"symbol":"K${at}","v":${at}}`);
    const path = join(folder, `large_${records}`);
    await writeFile(path, [...lines, large].join('\n'));
    await compare(path, `LARGE${records}`, { duplicates: 'ignore' });
    const { directory } = server.tapedeck.services.lake;
    const schema = directory.dataset('WS', `LARGE${records}_TYPED`)?.schema;
    assert.deepEqual(Object.keys(schema?.properties ?? {}), ['symbol', 'v']);
  }
});
