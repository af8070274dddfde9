// Compares a batch with stored records in full. A source that is read again repeats its own earlier records,
// and a record that replaces an equal one changes nothing. Equal means equal in every property; a record that
// occurs twice in a file without a unique index is stored twice.
import { join } from 'node:path';
import {
  type Column,
  CREATED_COLUMN,
  isSystemColumn,
  ROW_COLUMN,
  SOURCE_COLUMN,
} from '../../store/lake/versions/columns.ts';
import { newUuid } from '../../store/base/random.ts';
import type { DataFile } from '../../store/lake/versions/lakeRead.ts';
import { type OpenFiles, withOpenFiles } from '../../store/lake/versions/tableFiles.ts';
import { visibleRows } from '../../store/lake/versions/tableSql.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';
import { copyTable, fileStats } from '../batch/parquetFile.ts';
import { isBlank, isNumbered, orderBy, orderIndex, findOverlapping } from '../batch/uniqueIndex.ts';
import type { Batch } from '../batch/batchRequest.ts';
import type { Load } from '../conform/load.ts';
import { queryOpenFiles, type MergeTarget } from './reconcile.ts';

export interface Comparison {
  readonly batch: Pick<Batch, 'path' | 'stats'>;
  /** Records left out because stored ones are equal in every property. */
  readonly unchanged: number;
  /** Records kept although stored ones are equal in every property. */
  readonly identical: number;
  /** Records kept although stored ones have the same key, subkey and date and other values. */
  readonly conflicting: number;
}

/** Stored records up to which a load that leaves nothing out is compared with them, only for its counts. */
const COUNTED_RECORDS_MAX = 5_000_000;

type Compares = Pick<Load, 'duplicates' | 'jobId' | 'overwrite' | 'skipsIdentical' | 'relation'>;

/** Returns the batch unchanged if there is nothing to compare it with. */
export async function compareWithStored(
  batch: Batch,
  load: Compares,
  place: MergeTarget,
): Promise<Comparison> {
  const same = { batch, unchanged: 0, identical: 0, conflicting: 0 };
  const { index, table } = place;
  const isComparable = load.overwrite !== true && load.relation === undefined;
  if (batch.stats.records === 0 || !isComparable) return same;
  const isUnique = index.terms.length > 0;
  const skips = isUnique
    ? load.duplicates === 'replace' && ('of-all' as const)
    : (load.skipsIdentical ?? false);
  const isCompared = skips !== false || (!isUnique && load.jobId !== undefined);
  if (!isCompared || (!isUnique && !isNumbered(table))) return same;
  // Blank values are in no range: such a column cannot rule a file out.
  const ranged = orderIndex(index).columns.filter(({ name }) => !isBlank(batch.stats, name));
  const candidates = findOverlapping(table.files, batch.stats, orderIndex({ columns: ranged }));
  const stored = candidates.reduce((sum, { records }) => sum + records, 0);
  if (stored === 0) return same;
  if (skips === false && stored > COUNTED_RECORDS_MAX) return same;
  return withOpenFiles(place.files, candidates, async (open) => {
    const compared = { ...toComparison(place, open, candidates), batch, open, place };
    const left = skips === false ? same : await leaveOut(skips, compared);
    // With a unique index the remaining records replace stored ones.
    return isUnique ? left : { ...left, ...(await countKept(left.batch, compared)) };
  });
}

interface Compared {
  readonly batch: Batch;
  readonly place: MergeTarget;
  readonly open: OpenFiles;
  /** The stored records, as a sub-select. */
  readonly stored: string;
  readonly properties: readonly Column[];
}

function toComparison(
  { table }: MergeTarget,
  open: OpenFiles,
  candidates: readonly DataFile[],
): Pick<Compared, 'stored' | 'properties'> {
  const properties = table.columns.filter(({ name }) => !isSystemColumn(name));
  const system = table.columns.filter(
    ({ name }) => name === SOURCE_COLUMN || name === CREATED_COLUMN,
  );
  return { properties, stored: visibleRows(candidates, [...properties, ...system], open.pathOf) };
}

async function leaveOut(skips: 'of-source' | 'of-all', compared: Compared): Promise<Comparison> {
  const { batch, place } = compared;
  const { columns } = place.table;
  const path = join(place.bench.folder, `${newUuid()}.parquet`);
  const stored =
    skips === 'of-source'
      ? `(SELECT * FROM ${compared.stored} ${sourceCondition(compared)})`
      : compared.stored;
  const list = columns.map(({ name }) => `n.${identifier(name)}`).join(', ');
  const rows = occursOnce(compared)
    ? `${readBatch(batch)} AS n WHERE NOT EXISTS (FROM ${stored} AS s WHERE ${sameRecord(compared)})`
    : surplusRows(compared, stored);
  const query = `SELECT ${list} FROM ${rows}${orderBy(place.index)}`;
  const [copied] = await queryOpenFiles(place, compared.open, [copyTable(query, path, columns)]);
  const stats = fileStats(copied ?? []);
  const unchanged = batch.stats.records - stats.records;
  return { batch: { path, stats }, unchanged, identical: 0, conflicting: 0 };
}

/** The condition of equality. The day of loading is part of a unique index without a date. */
function sameRecord({ place: { index, table }, properties }: Compared): string {
  const isDaily =
    index.terms.length > 0 && table.columns.some(({ name }) => name === CREATED_COLUMN);
  const day = (side: string): string => `CAST(${side}.${identifier(CREATED_COLUMN)} AS DATE)`;
  return isDaily ? `${equal(properties)} AND ${day('n')} = ${day('s')}` : equal(properties);
}

/** Records of earlier versions have no source: they are compared too. */
function sourceCondition({ batch, place }: Compared): string {
  if (!place.table.columns.some(({ name }) => name === SOURCE_COLUMN)) return '';
  const source = batch.stats.columns.get(SOURCE_COLUMN)?.get('min') ?? '0';
  return `WHERE ${SOURCE_COLUMN} IS NULL OR ${SOURCE_COLUMN} = ${BigInt(source)}`;
}

/** Records under one number differ by key, subkey and date, so none occurs twice. */
function occursOnce({ batch, place }: Compared): boolean {
  if (place.index.terms.length > 0) return true;
  const row = batch.stats.columns.get(ROW_COLUMN);
  return row !== undefined && row.get('min') === row.get('max');
}

/** Selects the occurrences of each record beyond the number of its stored ones. */
function surplusRows({ batch, properties }: Compared, stored: string): string {
  const names = properties.map(({ name }) => identifier(name)).join(', ');
  const numbered = `(SELECT *, row_number() OVER (PARTITION BY ${names} ORDER BY ${ROW_COLUMN}) AS ${COPY}
    FROM ${readBatch(batch)})`;
  const storedCounts = `(SELECT ${names}, count(*) AS ${COUNT} FROM ${stored} GROUP BY ${names})`;
  return `${numbered} AS n LEFT JOIN ${storedCounts} AS s ON ${equal(properties)}
    WHERE n.${COPY} > coalesce(s.${COUNT}, 0)`;
}

const COPY = '_system_copy';
const COUNT = '_system_count';

async function countKept(
  batch: Pick<Batch, 'path' | 'stats'>,
  compared: Compared,
): Promise<Pick<Comparison, 'identical' | 'conflicting'>> {
  if (batch.stats.records === 0) return { identical: 0, conflicting: 0 };
  const { properties, place, stored } = compared;
  const keys = orderIndex(place.index).columns.filter(({ name }) => !isSystemColumn(name));
  const countMatches = (columns: readonly Column[]): string =>
    `SELECT count(*) AS records FROM ${readBatch(batch)} AS n
      WHERE EXISTS (FROM ${stored} AS s WHERE ${equal(columns)})`;
  const statements = [countMatches(properties), ...(keys.length === 0 ? [] : [countMatches(keys)])];
  const [same, sameKey] = await queryOpenFiles(place, compared.open, statements);
  const identical = Number(same?.[0]?.['records'] ?? 0);
  return {
    identical,
    conflicting: Math.max(0, Number(sameKey?.[0]?.['records'] ?? 0) - identical),
  };
}

const readBatch = ({ path }: Pick<Batch, 'path'>): string => `read_parquet(${literal(path)})`;

const equal = (columns: readonly Column[]): string =>
  columns
    .map(({ name }) => `n.${identifier(name)} IS NOT DISTINCT FROM s.${identifier(name)}`)
    .join(' AND ');
