// A catalog that is lost, older than its files or another lake's: nothing of the lake is deleted, and the
// start reports the cause and the remedy.
import assert from 'node:assert/strict';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { Failure } from '../../../store/base/failure.ts';
import { readStamp } from '../../../store/lake/versions/stamp.ts';
import { loaded, read } from '../../base/client.ts';
import { served, startServer } from '../../base/server.ts';

interface Place extends AsyncDisposable {
  readonly folder: string;
}

async function place(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-lost-'));
  return {
    folder,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

const CSV = 'symbol,date,price\nA,2020-01-01,1\nB,2020-01-01,2\n';
const MORE = 'symbol,date,price\nC,2020-01-01,3\n';

const filesOf = async (folder: string): Promise<readonly string[]> =>
  (await readdir(join(folder, 'lake'), { recursive: true }))
    .filter((name) => name.endsWith('.parquet'))
    .sort();

async function catalogFiles(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith('catalog.db'));
}

async function refusal(folder: string): Promise<string> {
  const started = startServer({ folder }).then((server) => server.close());
  const error = await started.then(
    () => assert.fail('the server started'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Failure, String(error));
  assert.equal(error.type, 'Conflict');
  return error.message;
}

test('a lake whose catalog is lost is not swept: the start names the missing file', async () => {
  await using at = await place();
  await served(at.folder, (server) => loaded(server, 'D', CSV));
  const files = await filesOf(at.folder);
  assert.equal(files.length, 1);
  for (const name of await catalogFiles(at.folder)) await rm(join(at.folder, name));
  const message = await refusal(at.folder);
  assert.match(
    message,
    /catalog\.db is missing.* has 1 files of lake .* at snapshot \d+.*tapedeck repair/,
  );
  assert.deepEqual(await filesOf(at.folder), files);
  assert.deepEqual(await catalogFiles(at.folder), []);
});

test('also where only the files are left, without the note beside them', async () => {
  await using at = await place();
  await served(at.folder, (server) => loaded(server, 'D', CSV));
  const files = await filesOf(at.folder);
  for (const name of await catalogFiles(at.folder)) await rm(join(at.folder, name));
  await rm(join(at.folder, 'lake', 'catalog.json'));
  assert.match(
    await refusal(at.folder),
    /catalog\.db is missing.* has 1 files\. Nothing was changed/,
  );
  assert.deepEqual(await filesOf(at.folder), files);
});

test('a catalog older than its files is refused; the right one serves again', async () => {
  await using at = await place();
  const older = join(at.folder, 'older.db');
  const newer = join(at.folder, 'newer.db');
  await served(at.folder, (server) => loaded(server, 'D', CSV));
  await copyFile(join(at.folder, 'catalog.db'), older);
  await served(at.folder, (server) => loaded(server, 'D', MORE));
  const files = await filesOf(at.folder);
  assert.equal(files.length, 2);
  await copyFile(join(at.folder, 'catalog.db'), newer);
  await copyFile(older, join(at.folder, 'catalog.db'));
  assert.match(await refusal(at.folder), /older than its files: .* at snapshot \d+, but the files/);
  assert.deepEqual(await filesOf(at.folder), files);
  await copyFile(newer, join(at.folder, 'catalog.db'));
  const rows = await served(at.folder, (server) => read(server, '/data/WS/D?format=csv&limit=9'));
  assert.equal(rows.trim().split('\n').length, 4, rows);
});

test("a catalog that is another lake's is refused", async () => {
  await using at = await place();
  await using other = await place();
  await served(at.folder, (server) => loaded(server, 'D', CSV));
  await served(other.folder, (server) => loaded(server, 'E', CSV));
  const files = await filesOf(at.folder);
  await copyFile(join(other.folder, 'catalog.db'), join(at.folder, 'catalog.db'));
  assert.match(await refusal(at.folder), /belongs to other files/);
  assert.deepEqual(await filesOf(at.folder), files);
});

test('unknown files are set aside; files that were written and never committed are deleted', async () => {
  await using at = await place();
  const own = await served(at.folder, async (server) => {
    await loaded(server, 'D', CSV);
    const [name = ''] = await filesOf(at.folder);
    return name;
  });
  const lake = join(at.folder, 'lake');
  const bytes = await readFile(join(lake, own));
  // As a kill between publishing and committing leaves it: a file of this lake and of its last run.
  await writeFile(join(lake, 'WS/D/ducklake-orphan.parquet'), bytes);
  // A file of a run that this catalog does not contain, and a file that is not ours at all.
  const stamp = await readStamp(join(lake, own));
  const forged = Buffer.from(bytes);
  const at0 = forged.indexOf(`"run":"${stamp?.run}"`);
  assert.ok(at0 > 0);
  forged.write(`"run":"00000000"`, at0);
  await mkdir(join(lake, 'WS/X'), { recursive: true });
  await writeFile(join(lake, 'WS/X/ducklake-fork.parquet'), forged);
  await writeFile(join(lake, 'notes.txt'), 'mine');
  const rows = await served(at.folder, (server) => read(server, '/data/WS/D?format=csv&limit=9'));
  assert.equal(rows.trim().split('\n').length, 3, rows);
  assert.deepEqual(await filesOf(at.folder), [own]);
  const [day = ''] = await readdir(join(at.folder, 'unclaimed'));
  assert.match(day, /^\d{4}-\d{2}-\d{2}T\d{6}\.\d{3}Z$/);
  const aside = (await readdir(join(at.folder, 'unclaimed', day), { recursive: true })).sort();
  assert.deepEqual(aside, ['WS', 'WS/X', 'WS/X/ducklake-fork.parquet', 'notes.txt']);
});

test('without the note beside the files nothing counts as garbage', async () => {
  await using at = await place();
  const own = await served(at.folder, async (server) => {
    await loaded(server, 'D', CSV);
    return (await filesOf(at.folder))[0] ?? '';
  });
  const lake = join(at.folder, 'lake');
  await copyFile(join(lake, own), join(lake, 'WS/D/ducklake-orphan.parquet'));
  await rm(join(lake, 'catalog.json'));
  await served(at.folder, async () => undefined);
  assert.deepEqual(await filesOf(at.folder), [own]);
  const aside = await readdir(join(at.folder, 'unclaimed'), { recursive: true });
  assert.ok(aside.some((name) => name.endsWith('ducklake-orphan.parquet')));
});

test('files that were set aside are deleted after their time', async () => {
  await using at = await place();
  await served(at.folder, async () => undefined);
  const old = join(at.folder, 'unclaimed', '2020-01-01T000000.000Z');
  await mkdir(old, { recursive: true });
  await writeFile(join(old, 'x.parquet'), 'x');
  await mkdir(join(at.folder, 'unclaimed', 'of mine'), { recursive: true });
  await served(at.folder, async () => undefined);
  assert.deepEqual(await readdir(join(at.folder, 'unclaimed')), ['of mine']);
});
