// Backups of a server in use: the restored data are those of one moment. Neither damage nor an interruption
// goes unnoticed or spoils the earlier backup.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { restoreBackup, verifyBackup } from '../../../jobs/backup/restore.ts';
import { openFolder } from '../../../store/catalog/folder.ts';
import { type Disk, localDisk } from '../../../store/base/disk.ts';
import { loaded, read } from '../../base/client.ts';
import { openSqliteCatalog, readTable, tables } from '../../store/lake/reader.ts';
import { note } from '../../base/notes.ts';
import { startedBy } from '../../base/program.ts';
import { startServer, type TestServer } from '../../base/server.ts';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tapedeck-backup-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

interface BackupReport {
  readonly snapshot: number;
  readonly files: number;
  readonly newFiles: number;
  readonly linkedFiles: number;
  readonly key: boolean;
}

const admin = (server: TestServer, path: string, body?: object): Promise<Response> =>
  fetch(`${server.base}/v1/admin${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${server.tapedeck.services.adminToken}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

async function backedUp(
  server: TestServer,
  target: string,
  options: object = {},
): Promise<BackupReport> {
  const answer = await admin(server, '/backup', { target, ...options });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text) as BackupReport;
}

async function refusal(server: TestServer, target: string): Promise<string> {
  const answer = await admin(server, '/backup', { target });
  assert.ok(answer.status >= 400 && answer.status !== 500, String(answer.status));
  return `${answer.status} ${((await answer.json()) as { message: string }).message}`;
}

const csv = (from: number, count: number, price: number): string => {
  const keys = Array.from({ length: count }, (_, at) => `K${from + at},2020-01-01,${price}\n`);
  return `symbol,date,price\n${keys.join('')}`;
};

const csvOf = (dataset: string, asOf?: number): string =>
  `/data/WS/${dataset}?limit=5000&format=csv${asOf === undefined ? '' : `&asOf=${asOf}`}`;

/** Pause of one user between two requests. */
const PAUSE_MS = 80;
/** Number of backups of the server in use. */
const ROUNDS = 2;

/** Simulates users until it is stopped; records the pushes and charges that were acknowledged. */
function usage(server: TestServer): {
  readonly pushed: Set<string>;
  readonly charged: () => number;
  stop(): Promise<void>;
} {
  const pushed = new Set<string>();
  let going = true;
  let charged = 0;
  const repeat = async (work: (round: number) => Promise<void>): Promise<void> => {
    for (let round = 1; going; round += 1) {
      await work(round);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const token = `token=${server.secret}`;
  const request = async (method: string, path: string, body?: string): Promise<void> => {
    const url = `${server.base}/v1${path}${path.includes('?') ? '&' : '?'}${token}`;
    const answer = await fetch(url, { method, ...(body === undefined ? {} : { body }) });
    const text = await answer.text();
    const fine = answer.ok || (method === 'DELETE' && answer.status === 404);
    assert.ok(fine, `${method} ${path}: ${text}`);
  };
  const users = [
    repeat(async (round) => {
      await loaded(server, 'A', csv(round % 40, 30, round), { duplicateKeyHandling: 'replace' });
    }),
    // Without a unique index repeated records are stored again.
    repeat(async () => {
      await loaded(server, 'N', csv(0, 7, 1));
    }),
    // Jobs without a waiting caller: some are unfinished at any moment.
    repeat(async (round) => {
      await request('POST', `/data/WS/B${round % 3}`, csv(round * 5, 5, round));
    }),
    repeat(async (round) => {
      const record = { symbol: `P${round}`, date: '2020-01-01', price: round };
      await request('POST', '/record/WS/A', JSON.stringify([record]));
      pushed.add(record.symbol);
    }),
    repeat(async (round) => {
      await request('DELETE', `/record/WS/A/K${round % 70}`);
    }),
    repeat(async (round) => {
      const answer = await fetch(`${server.base}/v1/data/WS/A/K${round % 70}?${token}`);
      assert.equal(answer.status, 200, await answer.clone().text());
      charged += ((await answer.json()) as readonly object[]).length;
    }),
  ];
  return {
    pushed,
    charged: () => charged,
    stop: async () => {
      going = false;
      await Promise.all(users);
    },
  };
}

const accountUsage = async (server: TestServer): Promise<number> => {
  const answer = await admin(server, `/accounts/${server.tapedeck.accountId}/usage`);
  return ((await answer.json()) as { readonly messages: number }).messages;
};

/** All tables at a snapshot, read by independent code. */
async function tablesAt(folder: string, snapshot: number): Promise<readonly unknown[]> {
  const catalog = await openSqliteCatalog(join(folder, 'catalog.db'));
  try {
    const lakeTables = await tables(catalog, snapshot);
    const rows = lakeTables.map((table) =>
      readTable(catalog, `${join(folder, 'lake')}/`, snapshot, table),
    );
    return await Promise.all(rows);
  } finally {
    catalog.close();
  }
}

test('a backup of a server in use restores to the same answers, charges and jobs', async (t) => {
  await using server = await startServer();
  await loaded(server, 'A', csv(0, 50, 1), { key: 'symbol', date: 'date' });
  for (const at of [0, 1, 2]) await loaded(server, `B${at}`, csv(0, 5, 1));
  await loaded(server, 'N', csv(0, 7, 1), { uniqueIndex: 'false' });
  const early = server.tapedeck.services.lake.snapshot;
  const users = usage(server);
  await new Promise((resolve) => setTimeout(resolve, 700));
  const target = join(root, 'used');
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [pushed, charged] = [new Set(users.pushed), users.charged()];
    const startedMs = performance.now();
    const backup = await backedUp(server, target, { copy: round % 2 === 1 });
    note(t, `${Math.round(performance.now() - startedMs)} ms: ${JSON.stringify(backup)}`);
    const data = join(root, `used-${round}`);
    const restoredMs = performance.now();
    await restoreBackup(target, data, localDisk);
    note(t, `restored in ${Math.round(performance.now() - restoredMs)} ms`);
    rounds.push({ backup, pushed, charged, data });
  }
  await users.stop();
  for (const { backup, pushed, charged, data } of rounds) {
    const theirs = await tablesAt(data, backup.snapshot);
    assert.deepEqual(theirs, await tablesAt(server.folder, backup.snapshot));
    await using restored = await startServer({ folder: data });
    const jobs = await unended(restored);
    for (const dataset of ['A', 'B0', 'B1', 'B2', 'N']) {
      for (const asOf of [backup.snapshot, early]) {
        const path = csvOf(dataset, asOf);
        assert.equal(await read(restored, path), await read(server, path), path);
      }
    }
    const now = await read(restored, csvOf('A'));
    for (const symbol of pushed) assert.match(now, new RegExp(`^${symbol},`, 'm'));
    const verdict = await admin(restored, '/verify-ledger');
    assert.deepEqual(((await verdict.json()) as { faults: object[] }).faults, []);
    assert.ok((await accountUsage(restored)) >= charged, 'earlier charges are included');
    assert.equal(jobs.failed, 0);
    note(t, `${pushed.size} pushes, ${charged} messages, ${jobs.begun} jobs begun again`);
  }
});

/** Waits for the restarted jobs; returns their number, and the number of failed jobs. */
async function unended(server: TestServer): Promise<{ begun: number; failed: number }> {
  const { database, runner } = server.tapedeck.services;
  const jobs = await database.selectFrom('job').selectAll().execute();
  const open = jobs.filter(({ finished_ms }) => finished_ms === null);
  const ended = await Promise.all(open.map(({ job_id }) => runner.ended(job_id)));
  const failed = ended.filter(({ status }) => status !== 'INGESTED').length;
  return { begun: jobs.filter(({ attempts }) => attempts > 1).length, failed };
}

test('a second backup copies new files, removes unreferenced ones and keeps the rest', async () => {
  await using server = await startServer();
  await loaded(server, 'A', csv(0, 50, 1));
  const target = join(root, 'incremental');
  const first = await backedUp(server, target);
  // The file of A is linked; each backup has its own catalog, key and admin token.
  assert.deepEqual([first.files, first.newFiles, first.linkedFiles], [4, 4, 1]);
  const [file = ''] = await lakeFiles(target);
  const source = await stat(join(server.folder, 'lake', file));
  assert.equal((await stat(join(target, 'lake', file))).ino, source.ino);
  for (const secret of ['key', 'admin-token']) {
    assert.equal((await stat(join(target, await stateOf(target), secret))).mode & 0o777, 0o600);
  }
  await loaded(server, 'A', csv(100, 50, 1));
  await writeFile(join(target, 'lake', 'WS-left.parquet.part'), 'half');
  const second = await backedUp(server, target);
  assert.deepEqual([second.files, second.newFiles], [5, 4]);
  assert.equal((await lakeFiles(target)).length, 2);
  assert.equal((await readdir(target)).length, 4, 'manifest, lock, lake, one state');
  const third = await backedUp(server, target, { copy: true });
  assert.deepEqual([third.newFiles, third.linkedFiles], [5, 0]);
  assert.notEqual((await stat(join(target, 'lake', file))).ino, source.ino);
  assert.equal((await backedUp(server, target, { copy: true })).newFiles, 3);
  // A lost file is copied again.
  await rm(join(target, 'lake', file));
  assert.equal((await backedUp(server, target)).newFiles, 4);
  const audit = (await (await admin(server, '/audit')).json()) as { action: string }[];
  assert.equal(audit.filter(({ action }) => action === 'back up').length, 5);
});

const lakeFiles = (target: string): Promise<readonly string[]> =>
  localDisk.list(join(target, 'lake'));

const stateOf = async (target: string): Promise<string> =>
  (await readdir(target)).find((name) => name.startsWith('state-')) ?? '';

test('one flipped byte in any file and a missing file are found and named', async () => {
  await using server = await startServer();
  await loaded(server, 'A', csv(0, 50, 1));
  const target = join(root, 'damaged');
  await backedUp(server, target, { copy: true });
  const state = await stateOf(target);
  const data = join(root, 'of-damaged');
  const lake = `lake/${(await lakeFiles(target))[0] ?? ''}`;
  for (const name of [lake, `${state}/catalog.db`, `${state}/key`, 'backup.json']) {
    const whole = await readFile(join(target, name));
    const bytes = Buffer.from(whole);
    const at = randomInt(bytes.length - 2);
    bytes[at] = (bytes[at] ?? 0) ^ (name === 'backup.json' ? 16 : 1);
    await writeFile(join(target, name), bytes);
    await assert.rejects(restoreBackup(target, data, localDisk), { message: naming(name) });
    await assert.rejects(stat(data), { code: 'ENOENT' });
    if (name === 'backup.json')
      await assert.rejects(verifyBackup(target), { message: naming(name) });
    else assert.match((await verifyBackup(target)).faults.join(), naming(name));
    await writeFile(join(target, name), whole);
  }
  const whole = await readFile(join(target, lake));
  await writeFile(join(target, lake), whole.subarray(1));
  assert.match(
    (await verifyBackup(target)).faults.join(),
    /^lake\S+ has \d+ bytes instead of \d+$/,
  );
  await rm(join(target, lake));
  assert.deepEqual((await verifyBackup(target)).faults, [`${lake} is missing`]);
  await assert.rejects(restoreBackup(target, data, localDisk), { message: /lake\S+ is missing/ });
  // The next backup restores the file, and writes an unreadable manifest again.
  await writeFile(join(target, 'backup.json'), 'nonsense');
  await backedUp(server, target);
  assert.deepEqual((await verifyBackup(target)).faults, []);
  await restoreBackup(target, data, localDisk);
});

const naming = (name: string): RegExp => new RegExp(`${name} is damaged`);

/** A disk that fails at an operation on a path, as if the process had been killed there. */
function endingDisk(): {
  readonly disk: Disk;
  /** Makes one operation on the path fail after `after` have succeeded, or all later ones. */
  end(place: string, after: number, failing?: 'one' | 'all'): void;
} {
  let left = Infinity;
  let ending = '';
  let all = true;
  const at = (path: string): void => {
    if (ending === '' || !path.startsWith(ending)) return;
    left -= 1;
    if (left >= 0 || (!all && left < -1)) return;
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  };
  const disk: Disk = {
    syncFile: async (path) => (at(path), localDisk.syncFile(path)),
    syncFolder: async (path) => (at(path), localDisk.syncFolder(path)),
    rename: async (from, to) => (at(to), localDisk.rename(from, to)),
    remove: async (path) => (at(path), localDisk.remove(path)),
    makeFolder: async (path) => (at(path), localDisk.makeFolder(path)),
    list: async (path) => (at(path), localDisk.list(path)),
  };
  return {
    disk,
    end: (place, count, failing = 'all') => {
      [ending, left, all] = [place, count, failing === 'all'];
    },
  };
}

for (const failing of ['all', 'one'] as const) {
  test(`a backup that fails anywhere leaves the earlier one whole, or none: ${failing}`, async (t) => {
    const { disk, end } = endingDisk();
    await using server = await startServer({ seams: { disk } });
    await loaded(server, 'A', csv(0, 10, 1));
    const target = join(root, `cut-${failing}`);
    let latestSnapshot: number | undefined;
    let count = 0;
    for (; ; count += 1) {
      // The first attempts go into a missing folder; later ones find an older backup.
      if (count === 3) latestSnapshot = (await backedUp(server, target)).snapshot;
      // Each operation fails twice: with new data to copy, and with the files that the first failure left.
      if (count % 2 === 0) {
        await loaded(server, 'A', csv(count, 10, count + 2), { duplicateKeyHandling: 'replace' });
      }
      end(target, Math.floor(count / 2), failing);
      const answer = await admin(server, '/backup', { target });
      const text = await answer.text();
      end('', 0);
      assert.match(text, answer.status === 200 ? /snapshot/ : /is full: no backup was made/);
      latestSnapshot = await checkCut(target, latestSnapshot, answer.status === 200);
      if (answer.status === 200 && count > 30) break;
    }
    const last = await backedUp(server, target);
    const { manifest, faults } = await verifyBackup(target);
    assert.deepEqual([manifest.snapshot, faults], [last.snapshot, []]);
    assert.equal((await readdir(target)).length, 4, 'manifest, lock, lake, one state');
    note(t, `${count} cuts`);
  });
}

/** The latest snapshot in the backup; a failure after the manifest was replaced comes too late. */
async function checkCut(
  target: string,
  latestSnapshot: number | undefined,
  hasBackup: boolean,
): Promise<number | undefined> {
  try {
    const { manifest, faults } = await verifyBackup(target);
    assert.deepEqual(faults, []);
    assert.ok(manifest.snapshot >= (latestSnapshot ?? 0));
    return manifest.snapshot;
  } catch (error) {
    assert.match(String(error), /holds no backup/);
    assert.ok(latestSnapshot === undefined && !hasBackup);
    return undefined;
  }
}

test('a killed backup leaves the earlier one whole', async (t) => {
  const [folder, target] = [join(root, 'killed-data'), join(root, 'killed-backup')];
  const server = await startServer({ folder });
  await loaded(server, 'A', csv(0, 10, 1));
  const former = await backedUp(server, target);
  await loaded(server, 'A', csv(10, 10, 1));
  await server.close();
  const signals: (string | null)[] = [];
  for (const passes of [0, 2, 5, 9, 11, 13, 15]) {
    const script = startedBy('test/jobs/upkeep/backupVictim.ts');
    const flags = ['--disable-warning=ExperimentalWarning', script];
    const child = spawn(process.execPath, [...flags, folder, target, String(passes)]);
    signals.push(
      await new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal))),
    );
    const { manifest, faults } = await verifyBackup(target);
    assert.deepEqual(faults, [], `killed after ${passes}`);
    assert.ok(passes > 5 || manifest.snapshot === former.snapshot);
  }
  assert.ok(signals.slice(0, 3).every((signal) => signal === 'SIGKILL'));
  note(t, signals.join());
});

test('a restore that fails anywhere leaves nothing that can be served', async () => {
  await using server = await startServer();
  await loaded(server, 'A', csv(0, 10, 1));
  const target = join(root, 'whole');
  await backedUp(server, target);
  const data = join(root, 'half');
  const { disk, end } = endingDisk();
  let cuts = 0;
  for (; ; cuts += 1) {
    end(data, cuts);
    const cut = await restoreBackup(target, data, disk).then(
      () => undefined,
      (error: Error) => error,
    );
    if (cut === undefined) break;
    assert.match(cut.message, /half is full: nothing was restored/);
    await assert.rejects(stat(data), { code: 'ENOENT' });
  }
  assert.ok(cuts > 8);
  await using restored = await startServer({ folder: data });
  assert.equal(await read(restored, csvOf('A')), await read(server, csvOf('A')));
  // The state after a kill: parts, and files that are not moved yet.
  const killed = join(root, 'killed');
  await restoreBackup(target, killed, localDisk);
  await localDisk.makeFolder(join(killed, 'restoring'));
  assert.throws(() => openFolder(killed), { message: /a restore into \S+ has not ended/ });
  await restoreBackup(target, killed, localDisk);
  const all = ['admin-token', 'asleep', 'catalog.db', 'key', 'lake'];
  assert.deepEqual((await readdir(killed)).sort(), all);
  const full = { message: /is not empty: nothing was restored/ };
  await assert.rejects(restoreBackup(target, killed, localDisk), full);
});

test('an invalid target of a backup is refused', async () => {
  await using server = await startServer();
  await using other = await startServer();
  await loaded(server, 'A', csv(0, 10, 1));
  const target = join(root, 'refused');
  const inside = /^400 \S+ is inside \S+ \(/;
  assert.match(await refusal(server, join(server.folder, 'lake', 'b')), inside);
  assert.match(await refusal(server, server.folder), inside);
  assert.match(await refusal(server, tmpdir()), inside);
  assert.match(await refusal(server, 'backups'), /^400 target must be an absolute path/);
  const file = join(root, 'a-file');
  await writeFile(file, '');
  assert.match(await refusal(server, file), /^400 \S+a-file is no folder: no backup was made/);
  assert.match(await refusal(server, join(file, 'b')), /^400 \S+ is no folder/);
  // Where nothing can be created, as under Linux's /proc, it must not retry for ever.
  assert.match(await refusal(server, '/proc/none/b'), /^4\d\d .*: no backup was made/);
  const elsewhere = join(root, 'elsewhere');
  await localDisk.makeFolder(elsewhere);
  await writeFile(join(elsewhere, 'backup.json'), '{"of":"another program"}');
  assert.match(await refusal(server, elsewhere), /^409 .*backup.json is damaged/);
  await rm(join(elsewhere, 'backup.json'));
  await writeFile(join(elsewhere, 'letter.txt'), 'mine');
  assert.match(await refusal(server, elsewhere), /^409 \S+ is not empty and holds no backup/);
  assert.deepEqual(await readdir(elsewhere), ['letter.txt']);
  const two = await Promise.all([1, 2].map(() => admin(server, '/backup', { target })));
  assert.deepEqual(two.map(({ status }) => status).sort(), [200, 503]);
  const busy = two.find(({ status }) => status === 503);
  assert.match((await busy?.text()) ?? '', /another backup is running/);
  assert.match(await refusal(other, target), /^409 .* holds a backup of another data folder/);
  assert.deepEqual((await verifyBackup(target)).faults, []);
  await assert.rejects(restoreBackup(target, join(target, 'x'), localDisk), {
    message: /is inside/,
  });
  await assert.rejects(restoreBackup(root, join(tmpdir(), 'x'), localDisk), {
    message: /holds no backup: nothing was restored/,
  });
});

test('a backup without the key reports it, and is served only with the key', async () => {
  await using server = await startServer();
  await loaded(server, 'A', csv(0, 10, 1));
  const target = join(root, 'keyless');
  const backup = await backedUp(server, target, { withoutKey: true });
  assert.deepEqual([backup.key, backup.files], [false, 2]);
  assert.deepEqual(await readdir(join(target, await stateOf(target))), ['catalog.db']);
  const data = join(root, 'of-keyless');
  assert.equal((await restoreBackup(target, data, localDisk)).key, false);
  await assert.rejects(startServer({ folder: data }), {
    message: /the key file \S+ does not hold/,
  });
  const key = (await readFile(join(server.folder, 'key'), 'utf8')).trim();
  const settings = { TAPEDECK_ENCRYPTION_KEY: key };
  await using restored = await startServer({ folder: data, settings });
  assert.equal(await read(restored, csvOf('A')), await read(server, csvOf('A')));
});
