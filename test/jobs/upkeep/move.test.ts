// A data folder is moved to PostgreSQL, served and backed up from there, and moved back: all answers stay
// the same.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, test } from 'vitest';
import { moveCatalog } from '../../../jobs/move/moveCatalog.ts';
import { makeBackup } from '../../../jobs/backup/backup.ts';
import { restoreBackup, verifyBackup } from '../../../jobs/backup/restore.ts';
import { localDisk } from '../../../store/base/disk.ts';
import { sqlitePlace } from '../../../store/sqlite/sqlitePlace.ts';
import { postgresPlace } from '../../../store/postgres/postgresPlace.ts';
import { runHere } from '../../cli/commandHere.ts';
import { loaded, read, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { postgresHere, type PostgresHere } from '../../store/postgres/postgresHere.ts';

const postgres = await postgresHere();
const here = postgres as PostgresHere;
const postgresTest = test.skipIf(postgres === undefined);
afterAll(() => postgres?.[Symbol.asyncDispose]());

/** Nothing is flushed automatically: a flush would add a version. */
const QUIET = { seams: { watch: false } } as const;

const QUESTIONS = [
  '/data/WS/D?limit=1000',
  '/data/WS/D?limit=1000&asOf=4',
  '/time-series/D/A?last=3',
  '/datasets/WS',
  '/datasets/WS/D/versions',
];

async function answersOf(server: TestServer): Promise<readonly string[]> {
  const answers: string[] = [];
  for (const question of QUESTIONS) {
    const { status, text } = await send(server, 'GET', question);
    answers.push(`${question} ${status} ${text}`);
  }
  return answers;
}

const usageOf = async (server: TestServer): Promise<string> =>
  (await send(server, 'GET', '/account/usage')).text;

interface Filled {
  readonly answers: readonly string[];
  readonly usage: string;
}

async function filled(folder: string): Promise<Filled> {
  await using server = await startServer({ folder, ...QUIET });
  const rows = Array.from({ length: 40 }, (_, day) => `A,2024-01-${10 + (day % 20)},${day}`);
  const [first, second] = [rows.slice(0, 20), rows.slice(20)];
  const header = 'symbol,date,close\n';
  await loaded(server, 'D', header + first.join('\n'), { key: 'symbol', date: 'date' });
  await loaded(server, 'D', header + second.join('\n'), { duplicateKeyHandling: 'replace' });
  await send(server, 'POST', '/record/WS/D', [{ symbol: 'P', date: '2024-05-01', close: 7 }]);
  await read(server, '/data/WS/D/A?last=5');
  const answers = await answersOf(server);
  return { answers, usage: await usageOf(server) };
}

postgresTest('to PostgreSQL and back: every answer, version and charge is the same', async () => {
  const root = await mkdtemp(join(tmpdir(), 'tapedeck-move-'));
  try {
    const folder = join(root, 'data');
    const before = await filled(folder);
    const variables = { TAPEDECK_DATABASE: here.url('moved') };
    const env = { TAPEDECK_DATA: folder, ...variables };
    await assert.rejects(
      startServer({ folder, settings: variables, ...QUIET }),
      /has a catalog of its own, .*catalog.db: `tapedeck move` moves it to TAPEDECK_DATABASE/,
    );
    const moveResult = await runHere(['move'], { env });
    assert.match(
      moveResult.stdout,
      /^\d+ rows of \d+ tables are in .*, each compared\n/,
      moveResult.stderr,
    );
    assert.ok(!existsSync(join(folder, 'catalog.db')));
    const backupRequest = {
      target: join(root, 'backup'),
      withoutKey: false,
      copy: false,
      actor: 'test',
      signal: new AbortController().signal,
    };
    {
      await using server = await startServer({ folder, settings: variables, ...QUIET });
      assert.equal(await usageOf(server), before.usage);
      assert.deepEqual(await answersOf(server), before.answers);
      await makeBackup(backupRequest, server.tapedeck.services);
    }
    assert.deepEqual((await verifyBackup(backupRequest.target)).faults, []);
    await restoreBackup(backupRequest.target, join(root, 'restored'), localDisk, true);
    {
      await using server = await startServer({ folder: join(root, 'restored'), ...QUIET });
      assert.deepEqual(await answersOf(server), before.answers);
    }
    const back = await runHere(['move', '--back', '--json'], { env });
    assert.match(
      back.stdout,
      /"aside":"schema moved_moved_\d+ of database postgres at/,
      back.stderr,
    );
    await using server = await startServer({ folder, ...QUIET });
    assert.deepEqual(await answersOf(server), before.answers);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

postgresTest('an interrupted move resumes, and never merges two catalogs', async () => {
  const root = await mkdtemp(join(tmpdir(), 'tapedeck-move-'));
  try {
    const folder = join(root, 'data');
    await filled(folder);
    const own = sqlitePlace({ catalog: join(folder, 'catalog.db') });
    const there = postgresPlace(here.settings('again'));
    // It fails after the copy, before the old catalog is set aside.
    const cut = { ...own, setAside: () => Promise.reject(new Error('killed')) };
    await assert.rejects(moveCatalog(cut, there, 0), /killed/);
    const again = await moveCatalog(own, there, 0);
    assert.equal(again.copied, undefined, 'it was copied already');
    assert.match(again.aside, /catalog\.db\.moved-1970-01-01T000000\.000Z$/);
    assert.ok((await readdir(folder)).includes('catalog.db.moved-1970-01-01T000000.000Z'));

    // It fails during the copy: nothing is left.
    const other = join(root, 'other');
    await filled(other);
    const source = sqlitePlace({ catalog: join(other, 'catalog.db') });
    const broken = {
      ...source,
      readPages: async function* (...args: Parameters<typeof source.readPages>) {
        if (args[1] === 'token') throw new Error('killed in the middle');
        yield* source.readPages(...args);
      },
    };
    const target = postgresPlace(here.settings('halved'));
    await assert.rejects(moveCatalog(broken, target, 0), /killed in the middle/);
    assert.equal(await target.exists(), false);
    await assert.rejects(
      moveCatalog(source, there, 0),
      /has another catalog, or another state of this one \(table \w+ differs\): nothing was moved/,
    );
    assert.ok(existsSync(join(other, 'catalog.db')));
    assert.ok(((await moveCatalog(source, target, 0)).copied?.rows ?? 0) > 50);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

postgresTest('a served catalog is not moved, and nothing of the attempt is left', async () => {
  const root = await mkdtemp(join(tmpdir(), 'tapedeck-move-'));
  try {
    const folder = join(root, 'data');
    const variables = { TAPEDECK_DATABASE: here.url('served') };
    await using server = await startServer({ folder, settings: variables, ...QUIET });
    await loaded(server, 'D', 'symbol,date,close\nA,2024-01-01,1\n', {
      key: 'symbol',
      date: 'date',
    });
    const there = postgresPlace(here.settings('served'));
    const target = sqlitePlace({ catalog: join(root, 'catalog.db') });
    await assert.rejects(moveCatalog(there, target, 0), /Busy: another Tapedeck process holds/);
    assert.deepEqual(await readdir(root), ['data']);
    await loaded(server, 'D', 'symbol,date,close\nA,2024-01-02,1\n');
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

postgresTest('a wrong copy is not kept', async () => {
  const root = await mkdtemp(join(tmpdir(), 'tapedeck-move-'));
  try {
    const folder = join(root, 'data');
    await filled(folder);
    const own = sqlitePlace({ catalog: join(folder, 'catalog.db') });
    const there = postgresPlace(here.settings('forged'));
    const lying = {
      ...there,
      readPages: async function* (...args: Parameters<typeof there.readPages>) {
        for await (const page of there.readPages(...args)) {
          yield page.map((row) => ('messages' in row ? { ...row, messages: 0 } : row));
        }
      },
    };
    await assert.rejects(moveCatalog(own, lying, 0), /is not what was copied: table balance/);
    assert.equal(await there.exists(), false);
    assert.ok(existsSync(join(folder, 'catalog.db')));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

postgresTest('a move with another key is refused before anything is moved', async () => {
  const root = await mkdtemp(join(tmpdir(), 'tapedeck-move-'));
  try {
    const folder = join(root, 'data');
    await filled(folder);
    const env = { TAPEDECK_DATA: folder, TAPEDECK_DATABASE: here.url('wrong_key') };
    const wrong = await runHere(['move'], {
      env: { ...env, TAPEDECK_ENCRYPTION_KEY: 'ab'.repeat(32) },
    });
    assert.match(
      wrong.stderr,
      /^tapedeck: TAPEDECK_ENCRYPTION_KEY is not the key of the catalog: nothing was moved; set /,
    );
    assert.ok(existsSync(join(folder, 'catalog.db')));
    await rename(join(folder, 'key'), join(root, 'key'));
    const none = await runHere(['move'], { env });
    assert.match(none.stderr, /^tapedeck: the key file \S+ is not there: nothing was moved; set /);
    assert.ok(!existsSync(join(folder, 'key')), 'none is created');
    await rename(join(root, 'key'), join(folder, 'key'));
    const moveResult = await runHere(['move'], { env });
    assert.match(moveResult.stdout, /^\d+ rows of \d+ tables are in /, moveResult.stderr);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
