// The catalog's engine over PostgreSQL: what a transaction means when the connection goes, or PostgreSQL.
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

const found = await postgresHere();
const here = found as PostgresHere;
const postgresTest = test.skipIf(found === undefined);
afterAll(() => found?.[Symbol.asyncDispose]());

interface Limits {
  readonly answerMs?: number;
  readonly awayMs?: number;
}

interface Wired extends AsyncDisposable {
  readonly database: Database;
  readonly wire: Wire;
  readonly taken: Error[];
}

async function wired(schema: string, limits: Limits = {}): Promise<Wired> {
  const wire = await startWire(here.postgres.port);
  const taken: Error[] = [];
  const options = { ...limits, onTaken: (error: Error) => void taken.push(error) };
  const settings = here.settings(schema, wire.port);
  const open = (): Promise<PostgresEngine> => PostgresEngine.open(settings, options);
  const database = createDatabase(open, postgresDialect(schema));
  await migrate(database);
  const dispose = async (): Promise<void> => {
    await database.destroy();
    await wire[Symbol.asyncDispose]();
  };
  return { database, wire, taken, [Symbol.asyncDispose]: dispose };
}

const keep = (database: Database, key: string): Promise<unknown> =>
  database.insertInto('folder').values({ key, value: '1' }).execute();

async function kept(database: Database): Promise<readonly string[]> {
  const rows = await database.selectFrom('folder').select('key').orderBy('key').execute();
  return rows.map(({ key }) => key).filter((key) => key !== 'version');
}

postgresTest('a commit whose answer is lost is looked up, and not done twice', async () => {
  await using one = await wired('lost_answer');
  const { database, taken, wire } = one;
  const committing = database.transaction().execute(async (transaction) => {
    await keep(transaction, 'a');
    // What goes there arrives; nothing comes back.
    wire.breakAfter(0, 'close');
    setTimeout(() => wire.mend(), 500);
  });
  await committing;
  assert.deepEqual(await kept(database), ['a']);
  // The same of a statement that is a transaction by itself.
  wire.breakAfter(0, 'close');
  setTimeout(() => wire.mend(), 300);
  const alone = await keep(database, 'b').then(
    () => true,
    () => false,
  );
  assert.deepEqual(await kept(database), alone ? ['a', 'b'] : ['a']);
  assert.deepEqual(taken, []);
});

postgresTest(
  'a commit that PostgreSQL lost is not taken for one of others, whatever got its number',
  async () => {
    await using one = await wired('lost_number');
    const { database, taken, wire } = one;
    const { down, run } = here.postgres;
    // What was not synced by a commit waits in memory, which goes.
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
    assert.deepEqual(await kept(database), ['b']);
    assert.deepEqual(taken, []);
  },
);

postgresTest(
  'a commit that was lost, and another process took the place: nobody is told what is not known',
  async () => {
    await using one = await wired('lost_place', { awayMs: 1_000 });
    const { database, taken, wire } = one;
    let isAnswered = false;
    const answered = (): void => void (isAnswered = true);
    const committing = database.transaction().execute(async (transaction) => {
      await keep(transaction, 'a');
      wire.breakAfter(0, 'close');
    });
    void committing.then(answered, answered);
    const other = await PostgresEngine.open(here.settings('lost_place'), { awayMs: 20_000 });
    wire.mend();
    while (taken.length === 0) await sleep(20);
    assert.match(String(taken[0]), /another Tapedeck process/);
    await sleep(300);
    assert.equal(isAnswered, false, 'the end of the process tells it');
    await other.close();
  },
);

postgresTest('what PostgreSQL refuses for now is not refused for good', async () => {
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
    await assert.rejects(kept(database), /Busy: /);
    await run('alter role keeper login');
    while (!(await keep(database, 'b').then(() => true, isBusy))) await sleep(100);
    // Somebody cancels what waits for somebody else.
    const other = await openConnection(here.settings('kept'));
    await other.run('begin', []);
    await other.run('lock table folder', []);
    const waiting = assert.rejects(keep(database, 'c'), /Busy: .*canceling statement/);
    const waits = `select pg_cancel_backend(pid) from pg_stat_activity
      where usename = 'keeper' and wait_event_type = 'Lock'`;
    while ((await other.run(waits, [])).rows.length === 0) await sleep(20);
    await waiting;
    await other.close();
    assert.deepEqual(await kept(database), ['b']);
  } finally {
    await database.destroy();
  }
});

function isBusy(error: unknown): false {
  assert.match(String(error), /Busy: /);
  return false;
}

postgresTest('a connection that goes before the commit leaves nothing, and says so', async () => {
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
    // Whoever goes on after a failure does not get half of a transaction.
    await keep(transaction, 'd').catch(() => undefined);
    await keep(transaction, 'e').catch(() => undefined);
  });
  await assert.rejects(caught, /Busy: .*nothing was written/);
  assert.deepEqual(await kept(database), []);
  await keep(database, 'f');
  assert.deepEqual(await kept(database), ['f']);
});

postgresTest('a network that swallows everything is a lost connection', async () => {
  await using one = await wired('stalled', { answerMs: 1_000 });
  const { database, taken, wire } = one;
  await keep(database, 'a');
  const committing = database.transaction().execute(async (transaction) => {
    await keep(transaction, 'b');
    wire.breakAfter(0, 'stall');
    setTimeout(() => wire.mend(), 1_500);
  });
  await committing;
  assert.deepEqual(await kept(database), ['a', 'b']);
  assert.deepEqual(taken, []);
});

postgresTest('PostgreSQL restarts: reads and writes go on, and are refused meanwhile', async () => {
  await using one = await wired('restarted');
  const { database } = one;
  await keep(database, 'a');
  const { up } = await here.postgres.down();
  const early = kept(database);
  await sleep(300);
  await up();
  assert.deepEqual(await early, ['a'], 'a short absence is waited for');
  await keep(database, 'b');
  assert.deepEqual(await kept(database), ['a', 'b']);
});

postgresTest('a standby is refused, and one that was promoted is not what it was', async () => {
  await using one = await wired('promoted', { awayMs: 20_000 });
  const { database, taken } = one;
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
  assert.ok(taken.length > 0, 'it is told to end: its memory may know more than is stored');
  const reading = postgresPlace(here.settings('promoted')).openReadOnly();
  assert.deepEqual(await kept(reading), ['a']);
  await reading.destroy();
});

postgresTest('a database that could not keep every text is refused at once', async () => {
  await using one = await wired('encodings');
  const made = `create database latin encoding 'LATIN1' locale 'C' template template0`;
  await here.postgres.run(made);
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

postgresTest('a role that may make no schema is told so', async () => {
  await here.postgres.run("create role guest login password 'correct horse'");
  const settings = { ...here.settings('theirs'), user: 'guest' };
  await assert.rejects(
    PostgresEngine.open(settings),
    /Conflict: PostgreSQL at .*permission denied for database postgres/,
  );
});

postgresTest('a statement that fails undoes its transaction, whoever catches it', async () => {
  await using one = await wired('failed_part');
  const { database } = one;
  await keep(database, 'a');
  const work = database.transaction().execute(async (transaction) => {
    await keep(transaction, 'b');
    await keep(transaction, 'a').catch(() => undefined);
  });
  await assert.rejects(work, /PostgreSQL undid a transaction/);
  assert.deepEqual(await kept(database), ['a']);
  await assert.rejects(
    database.transaction().execute((transaction) => keep(transaction, 'a')),
    /duplicate key/,
  );
  await keep(database, 'c');
  assert.deepEqual(await kept(database), ['a', 'c']);
});

postgresTest('one process holds a schema; one that lost it to another writes nothing', async () => {
  const soon = { awayMs: 1_000 };
  await using one = await wired('held', soon);
  await keep(one.database, 'a');
  const settings = here.settings('held');
  await assert.rejects(
    PostgresEngine.open(settings, soon),
    /Busy: another Tapedeck process holds schema held/,
  );
  // Cut off for good, while another one takes its place.
  one.wire.breakAfter(0, 'close');
  await assert.rejects(keep(one.database, 'b'));
  const other = await PostgresEngine.open(settings, soon);
  one.wire.mend();
  await assert.rejects(keep(one.database, 'c'), /another Tapedeck process holds/);
  assert.equal(one.taken.length, 1, 'the process is told to end');
  await other.close();
});

postgresTest(
  'one that lost the schema to another goes on with nothing, also once that is gone',
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
    assert.ok(one.taken.length > 0, 'the process is told to end');
    const reading = place.openReadOnly();
    assert.deepEqual(await kept(reading), ['a', 'c']);
    await reading.destroy();
  },
);

postgresTest('what an older view of another session keeps is not said to be gone', async () => {
  const place = postgresPlace(here.settings('viewed'));
  const database = place.open();
  const other = postgresPlace(here.settings('viewed_by'));
  try {
    await migrate(database);
    // It has read nothing of the catalog: no lock of it tells.
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

postgresTest('text is what it was: its order that of bytes, and no character 0', async () => {
  await using one = await wired('texts');
  const { database } = one;
  const names = ['a', 'B', 'Z', '_', 'é', 'zebra', 'ä', '𝄞', 'Ω', ' '];
  for (const key of names) await keep(database, `k${key}`);
  const inBytes = names
    .map((key) => `k${key}`)
    .sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  assert.deepEqual(await kept(database), inBytes);
  await keep(database, 'zero\0in it');
  assert.equal((await kept(database)).at(-1), 'zero\uFFFDin it');
  const beyond = database.selectFrom('folder').select('key').where('key', '>', 'kz').orderBy('key');
  assert.deepEqual(
    (await beyond.execute()).map(({ key }) => key),
    [...inBytes.slice(inBytes.indexOf('kzebra')), 'version', 'zero\uFFFDin it'],
  );
});

postgresTest(
  'a connection is encrypted, and to whom it says it is, as the setting wants it',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tapedeck-ca-'));
    try {
      const caFile = join(folder, 'ca.pem');
      await writeFile(caFile, here.postgres.ca);
      const asked = async (settings: Partial<DatabaseSettings>): Promise<unknown> => {
        const reading = postgresPlace({ ...here.settings('tls'), ...settings }).openReadOnly();
        try {
          const used = sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
          return (await used.execute(reading)).rows[0];
        } finally {
          await reading.destroy();
        }
      };
      assert.deepEqual(await asked({ tls: 'off' }), { ssl: false });
      assert.deepEqual(await asked({ tls: 'encrypted' }), { ssl: true });
      const verified = { tls: 'verified', caFile } as const;
      assert.deepEqual(await asked({ ...verified, host: 'localhost' }), { ssl: true });
      await assert.rejects(asked(verified), /does not match certificate/, 'another name');
      await assert.rejects(
        asked({ tls: 'verified', host: 'localhost' }),
        /self-signed certificate/,
      );
      await assert.rejects(asked({ ...verified, caFile: join(folder, 'none') }), /sslrootcert/);
      await assert.rejects(asked({ password: 'wrong' }), (error: Error) => {
        assert.match(error.message, /Conflict: PostgreSQL at .* password authentication failed/);
        return !error.message.includes('wrong');
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);

postgresTest('who reads beside it changes nothing', async () => {
  await using one = await wired('beside');
  await keep(one.database, 'a');
  const reading = postgresPlace(here.settings('beside')).openReadOnly();
  try {
    assert.deepEqual(await kept(reading), ['a']);
    await assert.rejects(keep(reading, 'b'), /read-only transaction/);
  } finally {
    await reading.destroy();
  }
});

postgresTest('acknowledged is synced, whatever the server says of itself', async () => {
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

test('a setting that is no database is told by its rule, never with its password', () => {
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

postgresTest('a server that is asked nothing is connected again all the same', async () => {
  await using wire = await startWire(here.postgres.port);
  const taken: Error[] = [];
  const guard = { everyMs: 50, lostMs: 3_000 };
  const options = { guard, onTaken: (error: Error) => void taken.push(error) };
  const engine = await PostgresEngine.open(here.settings('quiet', wire.port), options);
  wire.breakAfter(0, 'close');
  await sleep(300);
  wire.mend();
  await sleep(4_000);
  assert.deepEqual(taken, []);
  // Two who ask for the lost connection at once get one.
  wire.breakAfter(0, 'close');
  await sleep(200);
  wire.mend();
  const all = Array.from({ length: 8 }, () => engine.read('select 1 as one', []));
  for (const { rows } of await Promise.all(all)) assert.deepEqual(rows, [{ one: 1 }]);
  assert.deepEqual(taken, []);
  await engine.close();
});

postgresTest('what is deleted for good waits for no backup, and nobody waits for it', async () => {
  const place = postgresPlace(here.settings('scrubbed'));
  const database = place.open();
  try {
    await migrate(database);
    await keep(database, 'a');
    const moment = await place.openSnapshot();
    assert.deepEqual(await kept(moment.database), ['a']);
    const scrubbing = place.scrub(database);
    await sleep(200);
    const began = performance.now();
    await keep(database, 'b');
    assert.ok(performance.now() - began < 10_000, 'others go on');
    assert.equal(await scrubbing, false, 'a reader keeps it');
    await moment.close();
    assert.equal(await place.scrub(database), true);
    assert.deepEqual(await kept(database), ['a', 'b']);
  } finally {
    await database.destroy();
  }
});

postgresTest(
  'what is deleted for good is in no page, of a table or of an index of it',
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
      // The table gives its only page back; its index keeps the one with the key.
      await here.postgres.run('vacuum wiped.emptied');
      const left = await holding(database, 'GONEzqxj7');
      assert.deepEqual(left, ['emptied_pkey', 'folder', 'folder_pkey']);
      const before = await fileOf(database, 'untouched');
      assert.equal(await place.scrub(database), true);
      assert.deepEqual(await holding(database, 'GONEzqxj7'), []);
      assert.deepEqual(await kept(database), []);
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
  const asked = sql<{ readonly path: string }>`select pg_relation_filepath(${table}) as path`;
  return (await asked.execute(database)).rows[0]?.path;
}
