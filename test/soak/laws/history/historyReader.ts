// Reads the lake with an independent reader, at every existing version.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import {
  openSqliteCatalog,
  parseRow,
  readTable,
  snapshots,
  tables,
} from '../../../store/lake/reader.ts';
import { answered, type Model } from './historyModel.ts';

/**
 * Checks every version of the catalog: from the floor on it has the model's records, delete files
 * included; before a purge it has no such table.
 */
export async function compareForeign(folder: string, model: Model, label: string): Promise<number> {
  const catalog = await openSqliteCatalog(join(folder, 'catalog.db'));
  let compared = 0;
  try {
    const all = (await snapshots(catalog)).map(({ id }) => id);
    assert.deepEqual(
      all,
      model.versions.map(({ snapshot }) => snapshot),
      `${label}: versions`,
    );
    for (const snapshot of all) {
      const memory = model.memories.find((one) => one.snapshot === snapshot);
      const mine = (await tables(catalog, snapshot)).filter(({ schema }) => schema === 'WS');
      if (mine.length === 0 || memory === undefined) continue;
      const [table] = mine;
      assert.ok(table !== undefined && mine.length === 1, `${label}: one table at ${snapshot}`);
      const lines = await readTable(catalog, `${join(folder, 'lake')}/`, snapshot, table);
      const rows = lines.map(parseRow).map(withoutSystem).map(plain).toSorted();
      const expected = answered([...memory.rows.values()], memory.added)
        .map(plain)
        .toSorted();
      assert.deepEqual(rows, expected, `${label}: another reader at ${snapshot}`);
      compared += 1;
    }
    const head = all.at(-1) ?? 0;
    const names = (await tables(catalog, head)).map(({ name }) => name);
    assert.deepEqual(names, [model.name], label);
  } finally {
    catalog.close();
  }
  return compared;
}

const withoutSystem = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('_system')));

const plain = (row: object): string => JSON.stringify(row);
