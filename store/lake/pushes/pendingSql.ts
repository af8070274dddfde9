// Builds SQL for pending records, as one bound parameter beside the files.
import { type Column, sqlType } from '../versions/columns.ts';
import type { Bound } from '../../duckdb/protocol.ts';
import { buildDocument, type PendingRow } from './pendingRows.ts';
import { identifier, literal } from '../../duckdb/sqlText.ts';

const REPLACES = '_system_replaces';

/**
 * Builds a sub-select of stored and pending records. `rows` are the stored ones with `columns`; `index` are
 * the columns of the unique index, which must be among them; `where` is a condition on columns that every
 * record must meet.
 * @param allStored all stored records that may hide a pushed one, where `rows` is a part of them
 */
export function withPending(
  rows: string,
  columns: readonly Column[],
  index: readonly Column[],
  pending: readonly PendingRow[],
  where: string,
  bind: (value: Bound) => string,
  allStored?: string,
): string {
  const stored = `(SELECT * FROM ${rows} WHERE ${where})`;
  if (pending.length === 0) return stored;
  const list = columns.map(({ name }) => identifier(name)).join(', ');
  const sameIndex = index
    .map(({ name }) => `s.${identifier(name)} = p.${identifier(name)}`)
    .join(' AND ');
  const pushed = `(SELECT * FROM ${pendingRows(columns, pending, bind)} WHERE ${where})`;
  const hasReplacements = pending.some((row) => row.replaces);
  const hasInserts = pending.some((row) => !row.replaces);
  const storedFilter = hasReplacements
    ? `WHERE NOT EXISTS (FROM pushed AS p WHERE p.${REPLACES} AND ${sameIndex})`
    : '';
  // Finds the few stored records with the index of pushed ones first: all of them may not fit into memory.
  const candidates =
    allStored === undefined ? 'stored' : `(SELECT * FROM ${allStored} WHERE ${where})`;
  const occupied = `, taken AS MATERIALIZED (SELECT * FROM ${candidates} AS s
    WHERE EXISTS (FROM pushed AS p WHERE NOT p.${REPLACES} AND ${sameIndex}))`;
  const pushFilter = hasInserts
    ? `WHERE p.${REPLACES} OR NOT EXISTS (FROM taken AS s WHERE ${sameIndex})`
    : '';
  return `(WITH stored AS NOT MATERIALIZED ${stored}, pushed AS MATERIALIZED ${pushed}
    ${hasInserts ? occupied : ''}
    SELECT ${list} FROM stored AS s ${storedFilter} UNION ALL SELECT ${list} FROM pushed AS p ${pushFilter})`;
}

/** Builds a sub-select without the given rows, identified by the columns `by`, index and time. */
export function excludeRows(
  rows: string,
  by: readonly Column[],
  excluded: readonly PendingRow[],
  bind: (value: Bound) => string,
): string {
  if (excluded.length === 0) return rows;
  return `(SELECT * FROM ${rows} AS r WHERE NOT ${matchesRows('r', by, excluded, bind)})`;
}

/** Builds a condition: a row of `alias` is one of the pushed ones, compared by the columns `by`. */
export function matchesRows(
  alias: string,
  by: readonly Column[],
  pushed: readonly PendingRow[],
  bind: (value: Bound) => string,
): string {
  // Key, subkey and date of numbered records may be null.
  const sameIndex = by.map(
    ({ name }) => `t.${identifier(name)} IS NOT DISTINCT FROM ${alias}.${identifier(name)}`,
  );
  return `EXISTS (FROM ${pendingRows(by, pushed, bind)} AS t WHERE ${sameIndex.join(' AND ')})`;
}

function pendingRows(
  columns: readonly Column[],
  pending: readonly PendingRow[],
  bind: (value: Bound) => string,
): string {
  const names = columns.map(({ name }) => name);
  const records = pending.map((row) => {
    const document = buildDocument(row);
    const members = names.map((name) => {
      const value = Object.hasOwn(document, name) ? document[name] : null;
      return [name, value] as const;
    });
    return { ...Object.fromEntries(members), [REPLACES]: row.replaces };
  });
  const types = columns.map(({ name, type }) => [name, sqlType(type)] as const);
  const shape = JSON.stringify([{ ...Object.fromEntries(types), [REPLACES]: 'BOOLEAN' }]);
  const parameter = `CAST(${bind(JSON.stringify(records))} AS JSON)`;
  return `(SELECT unnest(record) FROM
    (SELECT unnest(json_transform(${parameter}, ${literal(shape)})) AS record))`;
}
