// Loads of one column in every format, and the result: its type, and its values in order.
import { load, loaded, read } from '../../base/client.ts';
import { parquetOf } from '../../soak/fuzz/http/bases.ts';
import type { TestServer } from '../../base/server.ts';
import { literal } from '../../../store/duckdb/sqlText.ts';

export type Format = 'csv' | 'json' | 'parquet';

const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** A file of a key `k` (r00001 …) and these texts as `v`. */
export async function fileOf(
  format: Format,
  values: readonly string[],
  delimiter = ',',
): Promise<string | Uint8Array> {
  const keyOf = (at: number): string => `r${String(at + 1).padStart(6, '0')}`;
  if (format === 'csv') {
    const lines = values.map((value, at) => `${keyOf(at)}${delimiter}${cell(value)}\n`);
    return `k${delimiter}v\n${lines.join('')}`;
  }
  if (format === 'json') {
    return values.map((v, at) => `${JSON.stringify({ k: keyOf(at), v })}\n`).join('');
  }
  const rows = values.map((value, at) => `(${literal(keyOf(at))}, ${literal(value)})`);
  return parquetOf(`SELECT * FROM (VALUES ${rows.join(', ')}) AS t(k, v)`);
}

/** `string:date`, `number` … */
export function typeOf(server: TestServer, dataset: string, name = 'v'): string {
  const storedDataset = server.tapedeck.services.lake.directory.dataset('WS', dataset);
  const { format, type } = storedDataset?.schema.properties[name] ?? { type: 'none' };
  return format === undefined ? String(type) : `${type}:${format}`;
}

/** Values of `v` in the order of their keys. */
export async function valuesOf(server: TestServer, dataset: string): Promise<readonly unknown[]> {
  const rows = JSON.parse(await read(server, `/data/WS/${dataset}?limit=1000`)) as readonly {
    readonly k: string;
    readonly v?: unknown;
  }[];
  return rows
    .toSorted((one, other) => (one.k < other.k ? -1 : 1))
    .map(({ v }) => (v === undefined ? null : v));
}

/** Loads a file into a new dataset with `k` as its key; returns type and values. */
export async function loadColumn(
  server: TestServer,
  dataset: string,
  file: string | Uint8Array,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly [string, readonly unknown[]]> {
  await loaded(server, dataset, file, { key: 'k', ...query });
  return [typeOf(server, dataset), await valuesOf(server, dataset)];
}

/** The status and text of a refused load. */
export async function refusal(
  server: TestServer,
  dataset: string,
  file: string | Uint8Array,
  query: Readonly<Record<string, string>> = {},
): Promise<string> {
  const answer = await load(server, dataset, file, { key: 'k', ...query });
  return `${answer.status} ${await answer.text()}`;
}
