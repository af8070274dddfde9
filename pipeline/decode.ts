// A file as it came, opened: unpacked, told by its content, its columns and first types known.
import { join } from 'node:path';
import type { Row } from '../store/duckdb/protocol.ts';
import { Failure, reasonOf } from '../store/failure.ts';
import type { Workbench } from './batch.ts';
import { contentOf, readHead } from './content.ts';
import { csvRelation } from './csv.ts';
import type { DateOrder } from './dateFormats.ts';
import {
  framingOf,
  jsonRelation,
  type JsonRelation,
  namesInOrder,
  patternOf,
  sampleOf,
  sampleStatement,
  unlikeStatement,
} from './json.ts';
import { refuseEndlessLine } from './lineScan.ts';
import { describeParquet, parquetRelation } from './parquet.ts';
import type { Relation } from './relation.ts';
import { type Packing, unpack } from './unpack.ts';

/** A file, and what is said of how it is to be read. */
interface Opening {
  readonly path: string;
  readonly jsonPath?: string;
  readonly dateOrder?: DateOrder;
}

/** The file as a relation, by its content; a packed one is unpacked first. */
export async function openRelation(opening: Opening, bench: Workbench): Promise<Relation> {
  const { dateOrder, jsonPath } = opening;
  let { path } = opening;
  let head = await readHead(path);
  let content = contentOf(head);
  if (isPacked(content)) {
    const plain = join(bench.folder, 'plain');
    await unpack(content, path, plain);
    path = plain;
    head = await readHead(path);
    content = contentOf(head);
  }
  if (isPacked(content)) throw new Failure('InvalidBody', 'the body is packed twice');
  if (content === 'csv') {
    await refuseEndlessLine(path);
    return await csvRelation(path, head, dateOrder);
  }
  if (content === 'parquet') return parquetRelation(path, await describe(path, bench));
  const framing = framingOf(head, jsonPath);
  const below = jsonPath ?? '$[*]';
  const empty = { kind: 'json', path, framing, jsonPath: below, columns: [] } as const;
  return openJson(empty, bench, dateOrder);
}

/** The sample says how records are spelled; the file is read for those that are spelled otherwise. */
async function openJson(
  empty: JsonRelation,
  bench: Workbench,
  order: DateOrder | undefined,
): Promise<Relation> {
  const sample = sampleOf(await readJson(empty, sampleStatement(empty), bench), order);
  // Each further statement is 5 ms or more, and of few records any way is fast.
  if (sample.whole) return jsonRelation(empty, sample, sample.names, false);
  const pattern = patternOf(empty, sample);
  const [unlike] = await readJson(empty, unlikeStatement(empty, pattern), bench);
  const all = (unlike?.['names'] ?? []) as readonly string[];
  const known = new Set(sample.names);
  const like = Number(unlike?.['lists']) === 0;
  if (all.every((name) => known.has(name))) return jsonRelation(empty, sample, sample.names, like);
  const named = await readJson(empty, namesInOrder(empty), bench);
  const names = named.map((row) => String(row['name']));
  return jsonRelation(empty, sample, names, like);
}

const isPacked = (content: string): content is Packing =>
  content === 'gzip' || content === 'zstd' || content === 'zip';

async function describe(path: string, bench: Workbench): Promise<readonly Row[]> {
  const damaged = 'the body is not readable Parquet: damaged or cut short';
  const statements = [describeParquet(path)];
  const [described] = await readable(bench, path, statements, () => damaged);
  return described ?? [];
}

async function readJson(
  { path }: JsonRelation,
  statement: string,
  bench: Workbench,
): Promise<readonly Row[]> {
  const [rows] = await readable(bench, path, [statement], (reason) => {
    const [first = ''] = reason.split('\n');
    return `the body is not readable JSON: ${first.replaceAll(path, 'the body')}`;
  });
  return rows ?? [];
}

async function readable(
  { pool, deadlineMs }: Workbench,
  path: string,
  statements: readonly string[],
  explain: (reason: string) => string,
): Promise<readonly (readonly Row[])[]> {
  try {
    return await pool.rows({ files: [path], statements, deadlineMs });
  } catch (error) {
    if (error instanceof Failure && error.type !== 'SystemError') throw error;
    throw new Failure('InvalidBody', explain(reasonOf(error)));
  }
}
