// Exports as a client reads them: the manifest, the parts that it names, and their records.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { connectionHere } from '../../base/duckdbHere.ts';
import type { TestServer } from '../../base/server.ts';

export interface Manifest {
  readonly exportId: string;
  readonly snapshot: number;
  readonly format: string;
  readonly compression: string;
  readonly schema: readonly { readonly name: string; readonly type: string }[];
  readonly rows: number;
  readonly bytes: number;
  readonly parts: readonly ManifestPart[];
}

interface ManifestPart {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** Reads the manifest in a folder, and checks every part against it. */
export async function readExport(folder: string): Promise<Manifest> {
  const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  for (const part of manifest.parts) {
    const bytes = await readFile(join(folder, part.name));
    assert.equal(bytes.length, part.bytes, part.name);
    assert.equal(createHash('sha256').update(bytes).digest('hex'), part.sha256, part.name);
  }
  assert.equal(
    manifest.rows,
    manifest.parts.reduce((sum, { rows }) => sum + rows, 0),
  );
  return manifest;
}

/** The members of a manifest that are equal in two exports of the same data. */
export const lasting = ({ exportId: _, ...manifest }: Manifest): object => {
  const { created: __, ...rest } = manifest as { readonly created?: number };
  return rest;
};

type Cells = readonly (readonly unknown[])[];

/** The records of all parts, in their order, as plain values. */
export async function recordsOf(folder: string): Promise<Cells> {
  const { format, parts, schema } = await readExport(folder);
  const all: unknown[][] = [];
  for (const { name, rows } of parts) {
    const bytes = await readFile(join(folder, name));
    const cells =
      format === 'arrow'
        ? arrowCells(bytes)
        : await duckdbCells(join(folder, name), format, schema);
    assert.equal(cells.length, rows, name);
    all.push(...cells.map((row) => [...row]));
  }
  return all;
}

function arrowCells(bytes: Uint8Array): Cells {
  const table = tableFromIPC(bytes);
  const names = table.schema.fields.map(({ name }) => name);
  return table.toArray().map((row: Readonly<Record<string, unknown>>) =>
    names.map((name, at) => {
      const value = row[name];
      const type = String(table.schema.fields[at]?.type);
      if (typeof value === 'number' && type.startsWith('Date')) {
        return new Date(value).toISOString().slice(0, 10);
      }
      if (typeof value === 'number' && type.startsWith('Timestamp')) {
        return new Date(value).toISOString();
      }
      return plain(value);
    }),
  );
}

async function duckdbCells(
  path: string,
  format: string,
  schema: Manifest['schema'],
): Promise<Cells> {
  const connection = await connectionHere();
  const columns = schema.map(({ name, type }) => `'${name}': '${type}'`).join(', ');
  const source = {
    // An empty cell is a text only if it is quoted.
    csv: `read_csv('${path}', columns = {${columns}}, header = true, allow_quoted_nulls = false)`,
    jsonl: `read_json('${path}', columns = {${columns}}, format = 'newline_delimited')`,
    parquet: `read_parquet('${path}')`,
  }[format];
  const list = schema.map(({ name, type }) => {
    if (type === 'TIMESTAMP') {
      return `strftime(CAST("${name}" AS TIMESTAMP), '%Y-%m-%dT%H:%M:%S.%gZ')`;
    }
    return type === 'JSON' ? `CAST("${name}" AS VARCHAR)` : `"${name}"`;
  });
  await connection.run(`SET TimeZone = 'UTC'`);
  const reader = await connection.runAndReadAll(`SELECT ${list.join(', ')} FROM ${source}`);
  const rows = reader.getRowsJson().map((row) => row.map(plain));
  connection.closeSync();
  return rows;
}

/** Makes long integers and JSON texts alike in every format. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return value;
}

interface Answer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

/** Sends a request below /v1 with the secret token. */
export async function ask(
  { base, secret }: Pick<TestServer, 'base' | 'secret'>,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${secret}` };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(`${base}/v1${path}`, { method, headers, ...sent });
  const text = await answer.text();
  const content =
    text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : { message: text };
  return { status: answer.status, json: content as Answer['json'] };
}
