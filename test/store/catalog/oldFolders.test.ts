// A folder that each earlier version of the program wrote opens with everything in it, and stays usable. The
// folders are in test/store/folders, one for each version of the catalog, made by the commit that brought it;
// version 6 was added and replaced within one.
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { loaded, read } from '../../base/client.ts';
import { folderVersion } from '../folders/version.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const FOLDERS = globSync(join(import.meta.dirname, '..', 'folders', '*', '*.json.gz')).sort();

/** Path in the folder -> bytes, base64. */
type Packed = Readonly<Record<string, string>>;

async function unpacked(path: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-old-'));
  const packed = JSON.parse(gunzipSync(await readFile(path)).toString('utf8')) as Packed;
  for (const [name, bytes] of Object.entries(packed)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), Buffer.from(bytes, 'base64'), { mode: 0o600 });
  }
  return folder;
}

const LOADED = ['A,2024-01-02,1.5', 'A,2024-01-03,2.5', 'B,2024-01-02,10', 'C,2024-01-02,7'];
/** Version 1 had no endpoint for single records. */
const PUSHED = 'D,2024-01-02,3';
const LATER = 'E,2024-01-05,4';

const csvOf = (lines: readonly string[]): string => ['symbol,date,close', ...lines, ''].join('\n');

/** Every charge is that of its line in the journal. */
async function proveLedger({ base, tapedeck }: TestServer): Promise<void> {
  const headers = { authorization: `Bearer ${tapedeck.services.adminToken}` };
  const answer = await fetch(`${base}/v1/admin/verify-ledger`, { headers });
  const verdict = (await answer.json()) as { readonly faults: readonly unknown[] };
  assert.deepEqual([answer.status, verdict.faults], [200, []]);
}

test('there is a folder of every version but the sixth, and of no later one', async () => {
  await using server = await startServer();
  const versions = Array.from({ length: await folderVersion(server) }, (_, at) => at + 1);
  assert.deepEqual(
    FOLDERS.map((path) => Number.parseInt(basename(path), 10)),
    versions.filter((version) => version !== 6),
  );
});

for (const path of FOLDERS) {
  const version = Number.parseInt(basename(path), 10);
  test(`a folder of version ${version} is read, written, queried and proved`, async () => {
    const folder = await unpacked(path);
    const records = version === 1 ? LOADED : [...LOADED, PUSHED];
    try {
      for (const start of ['first', 'second']) {
        await using server = await startServer({ folder });
        const { accounts, lake } = server.tapedeck.services;
        const core = lake.directory.workspace('CORE');
        assert.equal(core?.accountId, accounts.list()[0]?.accountId, "CORE is the first account's");
        const now = start === 'first' ? records : [...records, LATER];
        const csv = (query: string, key = ''): Promise<string> =>
          read(server, `/data/WS/PRICES${key}?limit=100&sort=ASC&format=csv${query}`);
        const sorted = (text: string): readonly string[] => text.trim().split('\n').slice(1).sort();
        assert.deepEqual(sorted(await csv('')), now.toSorted(), `${start} start`);
        assert.equal((await csv('', '/C')).trim(), csvOf(['C,2024-01-02,7']).trim());
        const counted = await read(
          server,
          '/sql-query/WS?sqlQuery=SELECT count(*) AS n FROM PRICES',
        );
        assert.equal(counted, `[{"n":${now.length}}]`);
        // Version 1 kept no journal: its charges can not be recomputed.
        if (version > 1) await proveLedger(server);
        if (start === 'second') break;
        const versions = JSON.parse(await read(server, '/datasets/WS/PRICES/versions')) as {
          readonly snapshot: number;
        }[];
        // The oldest snapshot created the dataset, the next one is that of the first load.
        const first = versions.at(-2)?.snapshot ?? 0;
        expect(versions.length).toBeGreaterThanOrEqual(3);
        assert.deepEqual(sorted(await csv(`&asOf=${first}`)), LOADED.slice(0, 3));
        await loaded(server, 'PRICES', csvOf([LATER]));
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}
