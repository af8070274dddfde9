// Pending records as SQL: one bound parameter beside the files.
import { type Column, sqlType } from '../versions/columns.ts';
import type { Bound } from '../../duckdb/protocol.ts';
import { documentOf, type PendingRow } from './pendingRows.ts';
import { identifier, literal } from '../../duckdb/sqlText.ts';

const REPLACES = '_system_replaces';

/**
 * A sub-select of stored and pending records. `rows` are the stored ones with `columns`; `index`
 * are the columns of the unique index, which must be among them; `where` is a condition on columns
 * that every record must meet.
 * @param all the stored records that a pushed one may have to give way to, where `rows` are some
 */
export function withPending(
  rows: string,
  columns: readonly Column[],
  index: readonly Column[],
  pending: readonly PendingRow[],
  where: string,
  bind: (value: Bound) => string,
  all?: string,
): string {
  const stored = `(SELECT * FROM ${rows} WHERE ${where})`;
  if (pending.length === 0) return stored;
  const list = columns.map(({ name }) => identifier(name)).join(', ');
  const same = index
    .map(({ name }) => `s.${identifier(name)} = p.${identifier(name)}`)
    .join(' AND ');
  const pushed = `(SELECT * FROM ${pendingRows(columns, pending, bind)} WHERE ${where})`;
  const replacing = pending.some((row) => row.replaces);
  const givingWay = pending.some((row) => !row.replaces);
  const kept = replacing
    ? `WHERE NOT EXISTS (FROM pushed AS p WHERE p.${REPLACES} AND ${same})`
    : '';
  // The few stored records that pushed ones meet are found first: all of them need not fit memory.
  const met = all === undefined ? 'stored' : `(SELECT * FROM ${all} WHERE ${where})`;
  const taken = `, taken AS MATERIALIZED (SELECT * FROM ${met} AS s
    WHERE EXISTS (FROM pushed AS p WHERE NOT p.${REPLACES} AND ${same}))`;
  const added = givingWay
    ? `WHERE p.${REPLACES} OR NOT EXISTS (FROM taken AS s WHERE ${same})`
    : '';
  return `(WITH stored AS NOT MATERIALIZED ${stored}, pushed AS MATERIALIZED ${pushed}
    ${givingWay ? taken : ''}
    SELECT ${list} FROM stored AS s ${kept} UNION ALL SELECT ${list} FROM pushed AS p ${added})`;
}

/** A sub-select of the rows but those that were told: `by` is what tells them, index and time. */
export function withoutTold(
  rows: string,
  by: readonly Column[],
  told: readonly PendingRow[],
  bind: (value: Bound) => string,
): string {
  if (told.length === 0) return rows;
  return `(SELECT * FROM ${rows} AS r WHERE NOT ${isPushed('r', by, told, bind)})`;
}

/** A condition: a row of `alias` is one of the pushed ones, by the columns that tell them apart. */
export function isPushed(
  alias: string,
  by: readonly Column[],
  pushed: readonly PendingRow[],
  bind: (value: Bound) => string,
): string {
  // Key, subkey and date of numbered records may be blank.
  const same = by.map(
    ({ name }) => `t.${identifier(name)} IS NOT DISTINCT FROM ${alias}.${identifier(name)}`,
  );
  return `EXISTS (FROM ${pendingRows(by, pushed, bind)} AS t WHERE ${same.join(' AND ')})`;
}

function pendingRows(
  columns: readonly Column[],
  pending: readonly PendingRow[],
  bind: (value: Bound) => string,
): string {
  const names = columns.map(({ name }) => name);
  const records = pending.map((row) => {
    const document = documentOf(row);
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
