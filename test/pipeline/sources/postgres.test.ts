// PostgreSQL sources against a real server, behind a wire that breaks.
import assert from 'node:assert/strict';
import { Client } from 'pg';
import { afterAll, describe, test } from 'vitest';
import { type PostgresRules, postgresPull } from '../../../pipeline/sources/postgres/postgres.ts';
import { checkPostgres } from '../../../pipeline/sources/postgres/postgresNames.ts';
import {
  SourceFailure,
  type Credential,
  type PostgresDefinition,
  type Pull,
} from '../../../pipeline/sources/base/source.ts';
import { type Postgres, startPostgres } from '../../base/servers/postgres.ts';
import { startWire } from '../../base/servers/wire.ts';
import { failing, pulled, type World } from './contract.ts';
import { runContract } from './contractCases.ts';

const MISSING = 'PostgreSQL is not on this machine (Debian: postgresql)';

let tables = 0;

type Login = Extract<Credential, { type: 'POSTGRES' }>;

interface PostgresWorld extends World {
  readonly table: string;
  readonly credential: Login;
  readonly rules: PostgresRules;
  run(sql: string): Promise<void>;
}

async function startWorld(
  server: Postgres,
  selection?: Partial<PostgresDefinition>,
): Promise<PostgresWorld> {
  tables += 1;
  const table = `Trades ${tables}`;
  const stack = new AsyncDisposableStack();
  const wire = stack.use(await startWire(server.port));
  const { password, user } = server;
  const client = new Client({
    host: '127.0.0.1',
    port: server.port,
    user,
    password,
    database: 'postgres',
  });
  client.on('error', () => undefined);
  await client.connect();
  stack.defer(() => client.end());
  const run = async (sql: string): Promise<void> => {
    await client.query(sql);
  };
  await run(`CREATE TABLE "${table}" (id bigserial, batch int, text text)`);
  const rules: PostgresRules = {
    allowPrivateAddresses: true,
    deadlineMs: 60_000,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ca: server.ca,
  };
  const login = { host: 'localhost', port: wire.port, user, password, database: 'postgres' };
  const credential = { type: 'POSTGRES', ...login } as const;
  const definition: PostgresDefinition = {
    type: 'POSTGRES',
    ...(selection ?? { table: `"${table}"`, incrementalColumn: 'id' }),
  };
  return {
    pull: postgresPull(rules) as Pull,
    impatient: postgresPull({ ...rules, deadlineMs: 500 }) as Pull,
    order: { definition, credential },
    credential,
    rules,
    table,
    run,
    wire,
    add: (batch, bytes = 0) => {
      const width = Math.min(1_000, bytes);
      const rows = Math.max(2, Math.ceil(bytes / (width + 30)));
      return run(
        `INSERT INTO "${table}" (batch, text)
          SELECT ${batch}, repeat('x', ${width}) FROM generate_series(1, ${rows})`,
      );
    },
    refused: refusedOf(table, credential),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function refusedOf(table: string, credential: Login): World['refused'] {
  const of = (more: Partial<PostgresDefinition>) =>
    ({ definition: { type: 'POSTGRES', ...more } }) as const;
  const as = (more: Partial<Login>) => ({ credential: { ...credential, ...more } });
  return {
    'a wrong password': {
      order: as({ password: 'wrong' }),
      why: /password authentication failed for user "owner"/,
    },
    'a user that is not there': {
      order: as({ user: 'nobody' }),
      why: /password authentication failed/,
    },
    'a database that is not there': {
      order: as({ database: 'none' }),
      why: /database "none" does not exist/,
    },
    'a table that is not there': {
      order: of({ table: 'none' }),
      why: /relation "none" does not exist/,
    },
    'a column that is not there': {
      order: of({ table: `"${table}"`, incrementalColumn: 'none' }),
      why: /column q\.none does not exist/,
    },
    'a column of a query that is not there': {
      order: of({ query: `SELECT none FROM "${table}"` }),
      why: /column "none" does not exist/,
    },
    'no credential': { order: { credential: undefined }, why: /needs a credential/ },
  };
}

const postgres = await startPostgres();
afterAll(() => postgres?.[Symbol.asyncDispose]());

if (postgres === undefined) {
  test('PostgreSQL against a real server', (t) => {
    if (process.env['CI'] === 'true') assert.fail(MISSING);
    t.skip(MISSING);
  });
} else {
  const start = (): Promise<PostgresWorld> => startWorld(postgres);
  runContract({ name: 'POSTGRES', sends: 'rows', untilRecords: 20_000, start });
  describe('POSTGRES', () => {
    const server = postgres;
    describe('values are exact', () => {
      for (const [expression, expected] of [
        ['9223372036854775807::bigint', '9223372036854775807'],
        ['(-32768)::smallint', '-32768'],
        [
          '123456789012345678901234567890.12345678901234567890::numeric',
          '123456789012345678901234567890.12345678901234567890',
        ],
        ['1.10::numeric', '1.10'],
        ['0.1::float8 + 0.2::float8', '0.30000000000000004'],
        ['1e300::float8', '1e+300'],
        ['0.1::float4', '0.1'],
        ["'NaN'::float8", 'null'],
        ["'-Infinity'::numeric", 'null'],
        ['NULL::int', 'null'],
        ['true', 'true'],
        ["'t'::text", '"t"'],
        [`E'a"b\\\\c\\n\\u2028é🎈'::text`, JSON.stringify('a"b\\c\n\u2028é🎈')],
        ["'ab'::char(5)", '"ab"'],
        ["date '2024-02-29'", '"2024-02-29"'],
        ["'infinity'::date", 'null'],
        ["timestamp '2024-02-29 12:34:56.123456'", '"2024-02-29T12:34:56.123456"'],
        ["timestamptz '2024-02-29 12:34:56.5+05:30'", '"2024-02-29T07:04:56.5Z"'],
        ["'-infinity'::timestamptz", 'null'],
        ["time '12:34'", '"12:34:00"'],
        ["interval '1 day 2 hours'", '"P1DT2H"'],
        ["'\\x00ff'::bytea", '"AP8="'],
        [
          `'{"a": 1.10,\n "b": [12345678901234567890]}'::json`,
          '{"a": 1.10,  "b": [12345678901234567890]}',
        ],
        [`'{"b": 1e400}'::jsonb`, `{"b": 1${'0'.repeat(400)}}`],
        ['ARRAY[1.10, NULL]::numeric[]', '[1.10,null]'],
        ["ARRAY['a,b', '\"']", '["a,b","\\""]'],
        ['ARRAY[[1,2],[3,4]]', '[[1,2],[3,4]]'],
        ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid", '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"'],
        ["'10.0.0.1'::inet", '"10.0.0.1"'],
        ["ROW(1, 'a')", '{"f1":1,"f2":"a"}'],
        ['int4range(1, 3)', '"[1,3)"'],
      ] as const) {
        test(expression.slice(0, 60).replaceAll('\n', ' '), async () => {
          await using world = await startWorld(server);
          assert.equal(await valueOf(world, expression), expected);
        });
      }
    });

    describe('new rows', () => {
      test('later rows that share the greatest value are sent, with all that share it', async () => {
        const table = 'shared';
        await using world = await startWorld(server, { table, incrementalColumn: 'day' });
        await world.run(`CREATE TABLE ${table} (day date, batch int)`);
        const insert = (day: string, batch: number): Promise<void> =>
          world.run(`INSERT INTO ${table} VALUES (${day}, ${batch})`);
        await insert(`'2024-01-01'`, 1);
        await insert(`'2024-01-02'`, 2);
        await insert('NULL', 3);
        const first = await pulled(world);
        assert.deepEqual(first.batches, [1, 2, 3]);
        assert.equal(first.position?.['value'], '2024-01-02');
        assert.deepEqual((await pulled(world, { since: first.position })).names, []);
        await insert(`'2024-01-02'`, 4);
        const second = await pulled(world, { since: first.position });
        assert.deepEqual([...second.batches].sort(), [2, 4]);
        assert.deepEqual((await pulled(world, { since: second.position })).names, []);
        await insert(`'2024-01-03'`, 5);
        const third = await pulled(world, { since: second.position });
        assert.deepEqual(third.batches, [5]);
      });

      test('without a column everything is sent again when a row changed, in any order', async () => {
        await using world = await startWorld(server, {
          query: `SELECT * FROM plain ORDER BY random()`,
        });
        await world.run(
          'CREATE TABLE plain AS SELECT n AS batch FROM generate_series(1, 200) AS n',
        );
        const first = await pulled(world);
        assert.equal(first.batches.length, 200);
        assert.deepEqual((await pulled(world, { since: first.position })).names, []);
        await world.run('UPDATE plain SET batch = 201 WHERE batch = 7');
        assert.equal((await pulled(world, { since: first.position })).batches.length, 200);
      });

      test('only rows without a value: new when they changed', async () => {
        await using world = await startWorld(server, { table: 'nulls', incrementalColumn: 'at' });
        await world.run('CREATE TABLE nulls (at timestamptz, batch int)');
        assert.deepEqual((await pulled(world)).names, []);
        await world.run('INSERT INTO nulls VALUES (NULL, 1)');
        const first = await pulled(world);
        assert.deepEqual((await pulled(world, { since: first.position })).names, []);
        await world.run("INSERT INTO nulls VALUES ('2024-01-01 00:00:00.000001Z', 2)");
        const second = await pulled(world, { since: first.position });
        assert.deepEqual(second.batches.toSorted(), [1, 2]);
        assert.deepEqual((await pulled(world, { since: second.position })).names, []);
      });
    });

    describe('queries', () => {
      for (const query of [
        'SELECT 1 AS batch',
        '  select 1 as batch ;  ',
        'SELECT 1 AS batch -- and no more',
        '/* first */ WITH a AS (SELECT 1 AS batch) SELECT * FROM a',
        '(SELECT 1 AS batch) UNION (SELECT 1)',
        'VALUES (1)',
      ]) {
        test(`${query} is read`, async () => {
          await using world = await startWorld(server, { query });
          assert.match((await pulled(world)).texts.join(''), /^\{"(batch|column1)":1\}\n$/);
        });
      }
      for (const [query, why] of [
        ['DELETE FROM keep', /must be one SELECT/],
        ['SELECTED', /must be one SELECT/],
        ['', /must be one SELECT/],
        ['SELECT 1; DELETE FROM keep', /syntax error/],
        ['SELECT 1) AS q; DELETE FROM keep; --', /syntax error|multiple commands/],
        [
          'SELECT 1) AS q; COMMIT; DELETE FROM keep; SELECT * FROM (SELECT 1',
          /cannot insert multiple commands/,
        ],
        ['SELECT 1) AS q; COMMIT; SELECT * FROM (SELECT 1', /cannot insert multiple commands/],
        ['WITH a AS (DELETE FROM keep RETURNING *) SELECT * FROM a', /must be at the top level/],
        ["SELECT set_config('transaction_read_only', 'off', true)", /read-write mode/],
        ["SELECT nextval('numbers')", /cannot execute nextval\(\) in a read-only transaction/],
        ['SELECT 1 AS a, 2 AS a', /column reference "a" is ambiguous/],
        ['SELECT 1 /* open', /unterminated/],
        ['SELECT 1/0', /division by zero/],
        ['TABLE pg_authid; COMMIT', /syntax error/],
      ] as const) {
        test(`${query} is refused`, async () => {
          await using world = await startWorld(server, { query });
          await world.run(
            'CREATE TABLE IF NOT EXISTS keep (n int); CREATE SEQUENCE IF NOT EXISTS numbers',
          );
          await world.run('INSERT INTO keep VALUES (1)');
          await assert.rejects(pulled(world), failing(why, false));
          await world.run('SELECT 1 / count(*) FROM keep');
        });
      }

      test('a table by the rules of PostgreSQL', async () => {
        await using world = await startWorld(server, { table: 'PG_catalog.pg_Am' });
        assert.match((await pulled(world)).texts.join(''), /"amname":"heap"/);
        const definition: PostgresDefinition = { type: 'POSTGRES', table: 'pg_am; DROP TABLE x' };
        await assert.rejects(
          pulled(world, { order: { definition } }),
          failing(/PostgreSQL: /, false),
        );
      });
    });

    describe('the server', () => {
      test('a query that takes too long is ended by the server too', async () => {
        await using world = await startWorld(server, { query: 'SELECT pg_sleep(20)' });
        const pull = postgresPull({ ...world.rules, deadlineMs: 300 }) as Pull;
        await assert.rejects(pulled(world, { pull }), failing(/longer than 300 ms|timeout/, true));
        await new Promise((done) => setTimeout(done, 300));
        await world.run(`SELECT 1 / (count(*) = 0)::int FROM pg_stat_activity
        WHERE state = 'active' AND query LIKE '%pg_sleep(20)%' AND pid <> pg_backend_pid()`);
      });

      test('a server that ends the session', async () => {
        await using world = await startWorld(server, { query: 'SELECT pg_sleep(5)' });
        const ended = assert.rejects(pulled(world), failing(/terminating connection|closed/, true));
        await new Promise((done) => setTimeout(done, 300));
        await world.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'tapedeck' AND state = 'active'`);
        await ended;
      });

      test('TLS is on, and the certificate is checked', async () => {
        await using world = await startWorld(server, {
          query: 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
        });
        const textOf = async (tls: 'on' | 'off', rules = world.rules): Promise<string> => {
          const order = { credential: { ...world.credential, tls } };
          return (await pulled(world, { order, pull: postgresPull(rules) as Pull })).texts.join('');
        };
        assert.equal(await textOf('on'), '{"ssl":true}\n');
        assert.equal(await textOf('off'), '{"ssl":false}\n');
        const { ca: _, ...unknown } = world.rules;
        await assert.rejects(textOf('on', unknown), failing(/TLS failed: self.signed/, false));
        const order = { credential: { ...world.credential, host: 'other.test' } };
        await assert.rejects(pulled(world, { order }), failing(/TLS failed:.*other\.test/, false));
        const numbered = { credential: { ...world.credential, host: '127.0.0.1' } };
        await assert.rejects(
          pulled(world, { order: numbered }),
          failing(/TLS failed:.*127\.0\.0\.1/, false),
        );
        await world.run('ALTER SYSTEM SET ssl = off');
        await world.run('SELECT pg_reload_conf()');
        await new Promise((done) => setTimeout(done, 300));
        await assert.rejects(textOf('on'), failing(/does not support SSL.*"tls": "off"/, false));
        await world.run('ALTER SYSTEM RESET ssl');
        await world.run('SELECT pg_reload_conf()');
        await new Promise((done) => setTimeout(done, 300));
      });

      test('addresses of a name are tried in turn, and all are checked', async () => {
        await using world = await startWorld(server, { query: 'SELECT 1 AS batch' });
        const two = async () => [
          { address: '127.0.0.2', family: 4 },
          { address: '127.0.0.1', family: 4 },
        ];
        const pull = postgresPull({ ...world.rules, resolve: two }) as Pull;
        assert.deepEqual((await pulled(world, { pull })).batches, [1]);
        for (const host of [
          'localhost',
          '127.0.0.1',
          '::1',
          '[::1]',
          '10.0.0.1',
          '2130706433',
          'db.test',
          '/run/postgresql',
          '',
        ]) {
          const guarded = postgresPull({ ...world.rules, allowPrivateAddresses: false }) as Pull;
          const order = { credential: { ...world.credential, host } };
          await assert.rejects(pulled(world, { pull: guarded, order }), (error) => {
            assert.ok(error instanceof SourceFailure && !error.transient);
            assert.match(error.detail ?? '', /not on the public Internet|no host name/);
            return true;
          });
        }
      });
    });
  });
}

/** One value of a query, as its line has it. */
async function valueOf(world: PostgresWorld, expression: string): Promise<string> {
  const definition: PostgresDefinition = { type: 'POSTGRES', query: `SELECT ${expression} AS v` };
  const { texts } = await pulled(world, { order: { definition } });
  return texts
    .join('')
    .trim()
    .replace(/^\{"v":(.*)\}$/s, '$1');
}

test('valid and invalid definitions', () => {
  checkPostgres({ type: 'POSTGRES', table: 'a.b', incrementalColumn: 'c' });
  for (const [wrong, why] of [
    [{}, /either "table" or "query"/],
    [{ table: 'a', query: 'SELECT 1' }, /either "table" or "query"/],
    [{ table: '' }, /"table" has 1 to 300/],
    [{ table: 'a\0' }, /"table" has 1 to 300/],
    [{ table: 'a', incrementalColumn: '' }, /"incrementalColumn" has 1 to 300/],
    [{ query: `SELECT ${'1'.repeat(100_000)}` }, /at most 100000/],
  ] as const) {
    assert.throws(
      () => {
        checkPostgres({ type: 'POSTGRES', ...wrong });
      },
      failing(why, false),
    );
  }
});
