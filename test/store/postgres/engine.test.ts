// The catalog's engine over PostgreSQL: transactions when the connection is lost, or PostgreSQL stops.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, test } from 'vitest';
import {
  type DatabaseSettings,
  parseDatabaseSettings,
} from '../../../store/base/settings/databaseSettings.ts';
import { type Database, createDatabase } from '../../../store/catalog/database.ts';
import { migrate } from '../../../store/catalog/migrate.ts';
import { PostgresEngine } from '../../../store/postgres/engine.ts';
import { openConnection } from '../../../store/postgres/postgresConnection.ts';
import { postgresPlace } from '../../../store/postgres/postgresPlace.ts';
import { postgresDialect } from '../../../store/postgres/postgresDialect.ts';
import { startWire, type Wire } from '../../base/servers/wire.ts';
import { postgresHere, type PostgresHere } from './postgresHere.ts';

const localPostgres = await postgresHere();
const here = localPostgres as PostgresHere;
const postgresTest = test.skipIf(localPostgres === undefined);
/** Tests of a connection that breaks: they wait, and run concurrently. */
const outageTest = test.skipIf(localPostgres === undefined).concurrent;
afterAll(() => localPostgres?.[Symbol.asyncDispose]());

interface Limits {
  readonly answerMs?: number;
  readonly awayMs?: number;
}

interface Wired extends AsyncDisposable {
  readonly database: Database;
  readonly wire: Wire;
  readonly takeoverErrors: Error[];
}

async function wired(schema: string, limits: Limits = {}): Promise<Wired> {
  const wire = await startWire(here.postgres.port);
  const takeoverErrors: Error[] = [];
  const options = { ...limits, onTaken: (error: Error) => void takeoverErrors.push(error) };
  const settings = here.settings(schema, wire.port);
  const open = (): Promise<PostgresEngine> => PostgresEngine.open(settings, options);
  const database = createDatabase(open, postgresDialect(schema));
  await migrate(database);
  const dispose = async (): Promise<void> => {
    await database.destroy();
    await wire[Symbol.asyncDispose]();
  };
  return { database, wire, takeoverErrors, [Symbol.asyncDispose]: dispose };
}

const keep = (database: Database, key: string): Promise<unknown> =>
  database.insertInto('folder').values({ key, value: '1' }).execute();

async function readKeys(database: Database): Promise<readonly string[]> {
  const rows = await database.selectFrom('folder').select('key').orderBy('key').execute();
  return rows.map(({ key }) => key).filter((key) => key !== 'version');
}

postgresTest(
  'a commit that PostgreSQL lost is not mistaken for another one that got its transaction number',
  async () => {
    await using one = await wired('lost_number');
    const { database, takeoverErrors, wire } = one;
    const { down, run } = here.postgres;
    // Records that no commit synced wait in memory, which is lost.
    await run("alter system set wal_writer_delay = '10s'");
    await run('select pg_reload_conf()');
    for (const others of [0, 2]) {
      const key = `a${others}`;
      const lost = database.transaction().execute(async (transaction) => {
        await keep(transaction, key);
        const { up } = await down();
        wire.breakAfter(0, 'close');
        await up();
        for (let other = 0; other < others; other += 1) await run('select pg_current_xact_id()');
        wire.mend();
      });
      await assert.rejects(lost, /Busy: .* the connection was lost at the commit; nothing/, key);
    }
    await run('alter system reset wal_writer_delay');
    await keep(database, 'b');
    assert.deepEqual(await readKeys(database), ['b']);
    assert.deepEqual(takeoverErrors, []);
  },
);

postgresTest('a temporary refusal of PostgreSQL is not permanent', async () => {
  const { run } = here.postgres;
  await run("create role keeper superuser login password 'correct horse'");
  const settings = { ...here.settings('kept'), user: 'keeper' };
  const open = (): Promise<PostgresEngine> => PostgresEngine.open(settings, { awayMs: 500 });
  const database = createDatabase(open, postgresDialect('kept'));
  const ended = `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'keeper'`;
  try {
    await migrate(database);
    await run('alter role keeper nologin');
    await run(ended);
    await assert.rejects(keep(database, 'a'), /Busy: .*not permitted to log in/);
    await assert.rejects(readKeys(database), /Busy: /);
    await run('alter role keeper login');
    while (!(await keep(database, 'b').then(() => true, isBusy))) await sleep(100);
    // A session cancels a statement that waits for another one.
    const other = await openConnection(here.settings('kept'));
    await other.run('begin', []);
    await other.run('lock table folder', []);
    const waiting = assert.rejects(keep(database, 'c'), /Busy: .*canceling statement/);
    const waits = `select pg_cancel_backend(pid) from pg_stat_activity
      where usename = 'keeper' and wait_event_type = 'Lock'`;
    while ((await other.run(waits, [])).rows.length === 0) await sleep(20);
    await waiting;
    await other.close();
    assert.deepEqual(await readKeys(database), ['b']);
  } finally {
    await database.destroy();
  }
});

function isBusy(error: unknown): false {
  assert.match(String(error), /Busy: /);
  return false;
}

outageTest('a commit without an answer is checked, and not repeated', async () => {
  await using one = await wired('lost_answer');
  const { database, takeoverErrors, wire } = one;
  const committing = database.transaction().execute(async (transaction) => {
    await keep(transaction, 'a');
    // Requests arrive; answers are dropped.
    wire.breakAfter(0, 'close');
    setTimeout(() => wire.mend(), 500);
  });
  await committing;
  assert.deepEqual(await readKeys(database), ['a']);
  // The same for a statement that is its own transaction.
  wire.breakAfter(0, 'close');
  setTimeout(() => wire.mend(), 300);
  const alone = await keep(database, 'b').then(
    () => true,
    () => false,
  );
  assert.deepEqual(await readKeys(database), alone ? ['a', 'b'] : ['a']);
  assert.deepEqual(takeoverErrors, []);
});

outageTest(
  'a commit that was lost while another process took over: an unknown outcome is not reported',
  async () => {
    await using one = await wired('lost_place', { awayMs: 1_000 });
    const { database, takeoverErrors, wire } = one;
    let isAnswered = false;
    const answered = (): void => void (isAnswered = true);
    const committing = database.transaction().execute(async (transaction) => {
      await keep(transaction, 'a');
      wire.breakAfter(0, 'close');
    });
    void committing.then(answered, answered);
    const other = await PostgresEngine.open(here.settings('lost_place'), { awayMs: 20_000 });
    wire.mend();
    while (takeoverErrors.length === 0) await sleep(20);
    assert.match(String(takeoverErrors[0]), /another Tapedeck process/);
    await sleep(300);
    assert.equal(isAnswered, false, 'the end of the process reports it');
    await other.close();
  },
);

outageTest('a connection lost before the commit writes nothing, and reports it', async () => {
  await using one = await wired('lost_before');
  const { database, wire } = one;
  const work = database.transaction().execute(async (transaction) => {
    await keep(transaction, 'a');
    wire.breakAfter(0, 'close');
    setTimeout(() => wire.mend(), 200);
    await keep(transaction, 'b');
  });
  await assert.rejects(work, /Busy: PostgreSQL at 127.0.0.1:\d+: .* nothing was written/);
  const caught = database.transaction().execute(async (transaction) => {
    await keep(transaction, 'c');
    wire.breakAfter(0, 'close');
    setTimeout(() => wire.mend(), 200);
    // A caller that goes on after a failure does not get half of a transaction.
    await keep(transaction, 'd').catch(() => undefined);
    await keep(transaction, 'e').catch(() => undefined);
  });
  await assert.rejects(caught, /Busy: .*nothing was written/);
  assert.deepEqual(await readKeys(database), []);
  await keep(database, 'f');
  assert.deepEqual(await readKeys(database), ['f']);
});

outageTest('one process holds a schema; one that lost it to another writes nothing', async () => {
  const soon = { awayMs: 1_000 };
  await using one = await wired('held', soon);
  await keep(one.database, 'a');
  const settings = here.settings('held');
  await assert.rejects(
    PostgresEngine.open(settings, soon),
    /Busy: another Tapedeck process holds schema held/,
  );
  // Cut off for good, while another process takes over.
  one.wire.breakAfter(0, 'close');
  await assert.rejects(keep(one.database, 'b'));
  const other = await PostgresEngine.open(settings, soon);
  one.wire.mend();
  await assert.rejects(keep(one.database, 'c'), /another Tapedeck process holds/);
  assert.equal(one.takeoverErrors.length, 1, 'the process must end');
  await other.close();
});

outageTest(
  'a process that lost the schema to another writes nothing, also once the other has ended',
  async () => {
    await using one = await wired('between', { awayMs: 2_000 });
    await keep(one.database, 'a');
    one.wire.breakAfter(0, 'close');
    await assert.rejects(keep(one.database, 'b'));
    const place = postgresPlace(here.settings('between'));
    const other = place.open();
    await keep(other, 'c');
    await other.destroy();
    one.wire.mend();
    await assert.rejects(
      keep(one.database, 'd'),
      /another Tapedeck process held schema between .* meanwhile/,
    );
    assert.ok(one.takeoverErrors.length > 0, 'the process must end');
    const reading = place.openReadOnly();
    assert.deepEqual(await readKeys(reading), ['a', 'c']);
    await reading.destroy();
  },
);

outageTest('an idle engine reconnects all the same', async () => {
  await using wire = await startWire(here.postgres.port);
  const takeoverErrors: Error[] = [];
  const guard = { everyMs: 50, lostMs: 3_000 };
  const options = { guard, onTaken: (error: Error) => void takeoverErrors.push(error) };
  const engine = await PostgresEngine.open(here.settings('quiet', wire.port), options);
  wire.breakAfter(0, 'close');
  await sleep(300);
  wire.mend();
  await sleep(4_000);
  assert.deepEqual(takeoverErrors, []);
  // Two concurrent requests for the lost connection share one.
  wire.breakAfter(0, 'close');
  await sleep(200);
  wire.mend();
  const all = Array.from({ length: 8 }, () => engine.read('select 1 as one', []));
  for (const { rows } of await Promise.all(all)) assert.deepEqual(rows, [{ one: 1 }]);
  assert.deepEqual(takeoverErrors, []);
  await engine.close();
});

outageTest('a network that swallows everything is a lost connection', async () => {
  await using one = await wired('stalled', { answerMs: 1_000 });
  const { database, takeoverErrors, wire } = one;
  await keep(database, 'a');
  const committing = database.transaction().execute(async (transaction) => {
    await keep(transaction, 'b');
    wire.breakAfter(0, 'stall');
    setTimeout(() => wire.mend(), 1_500);
  });
  await committing;
  assert.deepEqual(await readKeys(database), ['a', 'b']);
  assert.deepEqual(takeoverErrors, []);
});

postgresTest('PostgreSQL restarts: reads and writes go on, and are refused meanwhile', async () => {
  await using one = await wired('restarted');
  const { database } = one;
  await keep(database, 'a');
  const { up } = await here.postgres.down();
  const early = readKeys(database);
  await sleep(300);
  await up();
  assert.deepEqual(await early, ['a'], 'a read waits for a short outage');
  await keep(database, 'b');
  assert.deepEqual(await readKeys(database), ['a', 'b']);
});

postgresTest('a standby is refused, and a promoted one counts as another server', async () => {
  await using one = await wired('promoted', { awayMs: 20_000 });
  const { database, takeoverErrors } = one;
  await keep(database, 'a');
  const { up } = await here.postgres.down();
  await here.postgres.makeStandby();
  await up();
  const early = assert.rejects(keep(database, 'b'), /was promoted or restored meanwhile/);
  await assert.rejects(
    PostgresEngine.open(here.settings('promoted'), { awayMs: 0 }),
    /Busy: PostgreSQL at .*: it is a standby, which takes no writes/,
  );
  await here.postgres.promote();
  await early;
  assert.ok(takeoverErrors.length > 0, 'it must end: its memory may be ahead of the stored state');
  const reading = postgresPlace(here.settings('promoted')).openReadOnly();
  assert.deepEqual(await readKeys(reading), ['a']);
  await reading.destroy();
});

postgresTest('a database that could not store every text is refused immediately', async () => {
  await using one = await wired('encodings');
  const createStatement = `create database latin encoding 'LATIN1' locale 'C' template template0`;
  await here.postgres.run(createStatement);
  const place = postgresPlace({ ...here.settings('x'), database: 'latin' });
  await assert.rejects(
    place.exists(),
    /Conflict: .*database latin: its encoding is LATIN1, not UTF8/,
  );
  await assert.rejects(
    postgresPlace({ ...here.settings('x'), database: 'none' }).exists(),
    /Conflict: .*database "none" does not exist/,
  );
  await keep(one.database, 'a');
});

postgresTest('a role that may not create a schema gets an error that states it', async () => {
  await here.postgres.run("create role guest login password 'correct horse'");
  const settings = { ...here.settings('theirs'), user: 'guest' };
  await assert.rejects(
    PostgresEngine.open(settings),
    /Conflict: PostgreSQL at .*permission denied for database postgres/,
  );
});

postgresTest('a failed statement rolls back its transaction, even if it is caught', async () => {
  await using one = await wired('failed_part');
  const { database } = one;
  await keep(database, 'a');
  const work = database.transaction().execute(async (transaction) => {
    await keep(transaction, 'b');
    await keep(transaction, 'a').catch(() => undefined);
  });
  await assert.rejects(work, /PostgreSQL undid a transaction/);
  assert.deepEqual(await readKeys(database), ['a']);
  await assert.rejects(
    database.transaction().execute((transaction) => keep(transaction, 'a')),
    /duplicate key/,
  );
  await keep(database, 'c');
  assert.deepEqual(await readKeys(database), ['a', 'c']);
});

postgresTest('rows in an older snapshot of another session are not reported as gone', async () => {
  const place = postgresPlace(here.settings('viewed'));
  const database = place.open();
  const other = postgresPlace(here.settings('viewed_by'));
  try {
    await migrate(database);
    // It has read nothing of the catalog: no lock of it shows that.
    const moment = await other.openSnapshot();
    await keep(database, 'a');
    await database.deleteFrom('folder').where('key', '=', 'a').execute();
    assert.equal(await place.scrub(database), false);
    await moment.close();
    assert.equal(await place.scrub(database), true);
  } finally {
    await database.destroy();
  }
});

postgresTest('text stays unchanged: in the order of bytes, without the character 0', async () => {
  await using one = await wired('texts');
  const { database } = one;
  const names = ['a', 'B', 'Z', '_', 'é', 'zebra', 'ä', '𝄞', 'Ω', ' '];
  for (const key of names) await keep(database, `k${key}`);
  const inBytes = names
    .map((key) => `k${key}`)
    .sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  assert.deepEqual(await readKeys(database), inBytes);
  await keep(database, 'zero\0in it');
  assert.equal((await readKeys(database)).at(-1), 'zero\uFFFDin it');
  const beyond = database.selectFrom('folder').select('key').where('key', '>', 'kz').orderBy('key');
  assert.deepEqual(
    (await beyond.execute()).map(({ key }) => key),
    [...inBytes.slice(inBytes.indexOf('kzebra')), 'version', 'zero\uFFFDin it'],
  );
});

postgresTest(
  'a connection is encrypted, and the identity of its server checked, as the setting requires',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tapedeck-ca-'));
    try {
      const caFile = join(folder, 'ca.pem');
      await writeFile(caFile, here.postgres.ca);
      const readTlsState = async (settings: Partial<DatabaseSettings>): Promise<unknown> => {
        const reading = postgresPlace({ ...here.settings('tls'), ...settings }).openReadOnly();
        try {
          const used = sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
          return (await used.execute(reading)).rows[0];
        } finally {
          await reading.destroy();
        }
      };
      assert.deepEqual(await readTlsState({ tls: 'off' }), { ssl: false });
      assert.deepEqual(await readTlsState({ tls: 'encrypted' }), { ssl: true });
      const verified = { tls: 'verified', caFile } as const;
      assert.deepEqual(await readTlsState({ ...verified, host: 'localhost' }), { ssl: true });
      await assert.rejects(readTlsState(verified), /does not match certificate/, 'another name');
      await assert.rejects(
        readTlsState({ tls: 'verified', host: 'localhost' }),
        /self-signed certificate/,
      );
      await assert.rejects(
        readTlsState({ ...verified, caFile: join(folder, 'none') }),
        /sslrootcert/,
      );
      await assert.rejects(readTlsState({ password: 'wrong' }), (error: Error) => {
        assert.match(error.message, /Conflict: PostgreSQL at .* password authentication failed/);
        return !error.message.includes('wrong');
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);

postgresTest('a concurrent reader changes nothing', async () => {
  await using one = await wired('beside');
  await keep(one.database, 'a');
  const reading = postgresPlace(here.settings('beside')).openReadOnly();
  try {
    assert.deepEqual(await readKeys(reading), ['a']);
    await assert.rejects(keep(reading, 'b'), /read-only transaction/);
  } finally {
    await reading.destroy();
  }
});

postgresTest('an acknowledged write is synced, for any setting of the server', async () => {
  await using one = await wired('synced');
  await sql`alter role owner set synchronous_commit = off`.execute(one.database);
  const reading = postgresPlace(here.settings('synced')).openReadOnly();
  try {
    const { rows } = await sql<{ synchronous_commit: string }>`show synchronous_commit`.execute(
      reading,
    );
    assert.equal(rows[0]?.synchronous_commit, 'on');
  } finally {
    await reading.destroy();
    await sql`alter role owner reset synchronous_commit`.execute(one.database);
  }
});

test('an invalid database setting is reported with its rule, never with its password', () => {
  const wrong = (text: string, rule: RegExp): void =>
    assert.throws(
      () => parseDatabaseSettings(text),
      (error: Error) => rule.test(error.message) && !error.message.includes('geheim'),
      text,
    );
  wrong('mysql://u:geheim@h/d', /must be empty or postgres:/);
  wrong('postgres://u:geheim@h', /names no database/);
  wrong('postgres://h/d', /names no user/);
  wrong('postgres://u:geheim@h/d?sslmod=require', /takes no sslmod, only schema/);
  wrong('postgres://u:geheim@h/d?sslmode=prefer', /sslmode that is not/);
  wrong('postgres://u:geheim@h/d?schema=A-b', /schema that is no name/);
  wrong('postgres://u:gehe%zzim@h/d', /begins no %XX/);
  wrong('postgres://u:geheim@10.0.0.1/d', /names an address/);
  wrong('geheim', /must be empty or postgres:/);
  assert.equal(parseDatabaseSettings(''), undefined);
  assert.deepEqual(parseDatabaseSettings('postgresql://u:p%40@localhost/d?schema=x'), {
    host: 'localhost',
    port: 5432,
    user: 'u',
    password: 'p@',
    database: 'd',
    schema: 'x',
    tls: 'off',
    caFile: undefined,
  });
  assert.equal(parseDatabaseSettings('postgres://u@db.example/d')?.tls, 'verified');
});

postgresTest('a purge does not wait for a backup, and no write waits for a purge', async () => {
  const place = postgresPlace(here.settings('scrubbed'));
  const database = place.open();
  try {
    await migrate(database);
    await keep(database, 'a');
    const moment = await place.openSnapshot();
    assert.deepEqual(await readKeys(moment.database), ['a']);
    const scrubbing = place.scrub(database);
    await sleep(200);
    const began = performance.now();
    await keep(database, 'b');
    assert.ok(performance.now() - began < 10_000, 'other writes go on');
    assert.equal(await scrubbing, false, 'a reader keeps it');
    await moment.close();
    assert.equal(await place.scrub(database), true);
    assert.deepEqual(await readKeys(database), ['a', 'b']);
  } finally {
    await database.destroy();
  }
});

postgresTest(
  'purged values are in no page, neither of a table nor of one of its indexes',
  async () => {
    const place = postgresPlace(here.settings('wiped'));
    const database = place.open();
    try {
      await migrate(database);
      for (const name of ['emptied', 'untouched']) {
        await sql.raw(`create table ${name} (key text primary key)`).execute(database);
      }
      await keep(database, 'GONEzqxj7');
      await database.deleteFrom('folder').where('key', '=', 'GONEzqxj7').execute();
      await sql`insert into emptied values ('GONEzqxj7')`.execute(database);
      await sql`delete from emptied`.execute(database);
      // The table releases its only page; its index keeps the one with the key.
      await here.postgres.run('vacuum wiped.emptied');
      const left = await holding(database, 'GONEzqxj7');
      assert.deepEqual(left, ['emptied_pkey', 'folder', 'folder_pkey']);
      const before = await fileOf(database, 'untouched');
      assert.equal(await place.scrub(database), true);
      assert.deepEqual(await holding(database, 'GONEzqxj7'), []);
      assert.deepEqual(await readKeys(database), []);
      assert.equal(await fileOf(database, 'untouched'), before, 'one without pages stays');
    } finally {
      await database.destroy();
    }
  },
);

/** Tables and indexes of the schema that have a text in their files. */
async function holding(database: Database, text: string): Promise<readonly string[]> {
  await here.postgres.run('checkpoint');
  const { rows } = await sql<{ readonly name: string }>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'i')
      and position(convert_to(${text}, 'UTF8') in pg_read_binary_file(pg_relation_filepath(oid))) > 0
    order by relname`.execute(database);
  return rows.map(({ name }) => name);
}

async function fileOf(database: Database, table: string): Promise<string | undefined> {
  const pathQuery = sql<{ readonly path: string }>`select pg_relation_filepath(${table}) as path`;
  return (await pathQuery.execute(database)).rows[0]?.path;
}
