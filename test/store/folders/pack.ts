// Packs a data folder as this program writes it, for test/store/catalog/oldFolders.test.ts. Run it once for
// each new version of the catalog: `npx node test/store/folders/pack.ts`.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { loaded, send } from '../../base/client.ts';
import { startServer } from '../../base/server.ts';
import { folderVersion } from './version.ts';

const LOADS = [
  'symbol,date,close\nA,2024-01-02,1.5\nA,2024-01-03,2.5\nB,2024-01-02,10\n',
  'symbol,date,close\nC,2024-01-02,7\n',
];
const PUSHED = { symbol: 'D', date: '2024-01-02', close: 3 };

/** Fills the folder and closes it; returns the version of its catalog. */
async function filled(folder: string): Promise<string> {
  await using server = await startServer({ folder });
  for (const csv of LOADS) await loaded(server, 'PRICES', csv, { key: 'symbol', date: 'date' });
  const pushed = await send(server, 'POST', '/record/WS/PRICES', PUSHED);
  assert.equal(pushed.status, 200, pushed.text);
  return (await folderVersion(server)).toString().padStart(2, '0');
}

const folder = await mkdtemp(join(tmpdir(), 'tapedeck-pack-'));
const version = await filled(folder);
const packed: Record<string, string> = {};
for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const path = join(entry.parentPath, entry.name);
  packed[path.slice(folder.length + 1)] = (await readFile(path)).toString('base64');
}
const target = join(import.meta.dirname, `of${version[0]}x`, `${version}.json.gz`);
await mkdir(dirname(target), { recursive: true });
await writeFile(target, gzipSync(JSON.stringify(packed)));
await rm(folder, { recursive: true });
console.log(`${target}: ${Object.keys(packed).join(', ')}`);
