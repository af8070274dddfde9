// S3 sources against a real store: OpenStack Swift with its S3 interface, behind a wire that breaks.
import assert from 'node:assert/strict';
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, describe, test } from 'vitest';
import { type S3Rules, s3Pull } from '../../../pipeline/sources/s3/s3.ts';
import { checkS3 } from '../../../pipeline/sources/s3/s3Names.ts';
import type { Credential, Pull, S3Definition } from '../../../pipeline/sources/base/source.ts';
import { startHttp } from '../../base/servers/http.ts';
import { startSwift, type Swift } from '../../base/servers/swift.ts';
import { startWire } from '../../base/servers/wire.ts';
import { failing, pulled, recordsOf, type World } from './contract.ts';
import { runContract } from './contractCases.ts';

const MISSING = 'Swift is not on this machine (Debian: swift-proxy, -account, -container, -object)';

const RULES: S3Rules = {
  allowPrivateAddresses: true,
  deadlineMs: 60_000,
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
};
const pull = s3Pull(RULES) as Pull;

let buckets = 0;

interface S3World extends World {
  putObject(key: string, body: string | Buffer): Promise<void>;
  remove(key: string): Promise<void>;
  readonly client: S3Client;
  readonly bucket: string;
}

async function startWorld(swift: Swift, overrides: Partial<S3Definition> = {}): Promise<S3World> {
  buckets += 1;
  const bucket = `bucket-${buckets}`;
  const { port, accessKeyId, secretAccessKey } = swift;
  const client = new S3Client({
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${port}`,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });
  const stack = new AsyncDisposableStack();
  stack.defer(() => client.destroy());
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  const wire = stack.use(await startWire(port));
  const definition: S3Definition = {
    type: 'AWS-S3',
    awsbucketName: bucket,
    endpoint: `http://127.0.0.1:${wire.port}`,
    pattern: 'prices/*.jsonl',
    ...overrides,
  };
  const credential = { type: 'AWS-S3', accessKeyId, secretAccessKey } as const;
  const putObject = async (key: string, body: string | Buffer): Promise<void> => {
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body }));
  };
  return {
    client,
    bucket,
    pull,
    impatient: s3Pull({ ...RULES, deadlineMs: 500 }) as Pull,
    order: { definition, credential },
    wire,
    putObject,
    remove: async (key) => {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
    },
    add: (batch, bytes) =>
      putObject(`prices/b${batch}.jsonl`, `${[...recordsOf(batch, bytes)].join('\n')}\n`),
    refused: refusedOf(swift, definition, credential),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function refusedOf(
  { stranger }: Swift,
  definition: S3Definition,
  credential: Extract<Credential, { type: 'AWS-S3' }>,
): World['refused'] {
  const { awsbucketName: bucket, pattern: _, ...rest } = definition;
  return {
    'a wrong secret': {
      order: { credential: { ...credential, secretAccessKey: 'wrong' } },
      why: new RegExp(`bucket ${bucket} refused the credential: SignatureDoesNotMatch`),
    },
    'another account': {
      order: { credential: { ...credential, ...stranger } },
      why: /refused the credential: AccessDenied/,
    },
    'a bucket that is not there': {
      order: { definition: { ...definition, awsbucketName: 'nonesuch' } },
      why: /bucket nonesuch is not there/,
    },
    'an object that is not there': {
      order: { definition: { ...rest, awsbucketName: bucket, key: 'prices/none.jsonl' } },
      why: new RegExp(`object prices/none.jsonl is not there in bucket ${bucket}`),
    },
    'another region': {
      order: { definition: { ...definition, region: 'eu-west-1' } },
      why: /HTTP 400: AuthorizationHeaderMalformed.*us-east-1/,
    },
    'no credential': {
      order: { credential: undefined },
      why: /answered HTTP|refused the credential/,
    },
    'a credential of another kind': {
      order: { credential: { type: 'HTTP', headers: {} } },
      why: /type HTTP does not open S3/,
    },
  };
}

const swift = await startSwift();
afterAll(() => swift?.[Symbol.asyncDispose]());

if (swift === undefined) {
  test('S3 against a real store', (t) => {
    if (process.env['CI'] === 'true') assert.fail(MISSING);
    t.skip(MISSING);
  });
} else {
  runContract({ name: 'S3', sends: 'each', untilRecords: 3_000, start: () => startWorld(swift) });
  describe('S3', () => {
    const store = swift;
    test('one object: a piece when its ETag changed', async () => {
      await using world = await startWorld(store);
      const { pattern: _, ...rest } = world.order.definition as S3Definition;
      const definition = { ...rest, key: 'a.csv', jsonPath: '$.x' };
      await world.putObject('a.csv', 'one');
      const first = await pulled(world, { order: { definition } });
      assert.deepEqual([first.names, first.texts], [['a.csv'], ['one']]);
      await world.putObject('a.csv', 'one');
      const since = first.position;
      assert.deepEqual((await pulled(world, { order: { definition }, since })).names, []);
      await world.putObject('a.csv', 'two');
      assert.deepEqual((await pulled(world, { order: { definition }, since })).texts, ['two']);
      const over = pulled(world, { order: { definition }, landing: { bytesMax: 2 } });
      await assert.rejects(over, failing(/at most 2 bytes/, false));
    });

    test('the objects of a pattern, and the new ones among them', async () => {
      await using world = await startWorld(store, { pattern: 'p/[a-m]*.csv' });
      for (const key of [
        'p/',
        'p/.a.csv',
        'p/a/b.csv',
        'p/z.csv',
        'q/a.csv',
        'p/a.csv',
        'p/é €+%.csv',
        'p/b +&?.csv',
      ]) {
        await world.putObject(key, key);
      }
      const first = await pulled(world);
      assert.deepEqual([...first.names].sort(), ['p/a.csv', 'p/b +&?.csv']);
      assert.deepEqual([...first.texts].sort(), ['p/a.csv', 'p/b +&?.csv']);
      await world.putObject('p/a.csv', 'changed');
      await world.remove('p/b +&?.csv');
      const second = await pulled(world, { since: first.position });
      assert.deepEqual(second.texts, ['changed']);
    });

    test('a listing of many pages', async () => {
      await using world = await startWorld(store, { pattern: '[01]?02/x.csv' });
      const keys = Array.from({ length: 1_003 }, (_, n) => `${String(n).padStart(4, '0')}/x.csv`);
      for (let at = 0; at < keys.length; at += 50) {
        await Promise.all(keys.slice(at, at + 50).map((key) => world.putObject(key, key)));
      }
      const { names } = await pulled(world);
      assert.equal(names.length, 11);
      assert.equal(names.at(-1), '1002/x.csv');
    });

    test('an incomplete multipart upload is not listed', async () => {
      await using world = await startWorld(store);
      const { bucket, client } = world;
      const upload = { Bucket: bucket, Key: 'prices/parts.jsonl' };
      await client.send(new CreateMultipartUploadCommand(upload));
      assert.deepEqual((await pulled(world)).names, []);
    });

    for (const [name, change] of [
      ['changes', (world: S3World) => world.putObject('prices/b2.jsonl', 'other')],
      ['has gone', (world: S3World) => world.remove('prices/b2.jsonl')],
    ] as const) {
      test(`an object that ${name} after it was listed is worth another try`, async () => {
        await using world = await startWorld(store);
        await world.add(1);
        await world.add(2);
        const changing: Pull = async function* (order) {
          for await (const piece of world.pull(order)) {
            yield piece;
            await change(world);
          }
        };
        const why = /object prices\/b2\.jsonl (changed|has gone) while it was read/;
        await assert.rejects(pulled(world, { pull: changing }), failing(why, true));
      });
    }
  });
}

/** A pull from a server that is no S3 store. */
async function from(
  listener: Parameters<typeof startHttp>[0],
  more: { readonly definition?: Partial<S3Definition>; readonly rules?: Partial<S3Rules> } = {},
): Promise<unknown> {
  await using server = await startHttp(listener);
  const definition: S3Definition = {
    type: 'AWS-S3',
    awsbucketName: 'bucket',
    key: 'a.csv',
    endpoint: `http://127.0.0.1:${server.port}`,
    ...more.definition,
  };
  const credential: Credential = { type: 'AWS-S3', accessKeyId: 'a', secretAccessKey: 'b' };
  const world = {
    pull: s3Pull({ ...RULES, ...more.rules }) as Pull,
    order: { definition, credential },
  };
  return await pulled(world);
}

describe('servers that are no store', () => {
  test('a body that is shorter than its content-length', () =>
    assert.rejects(
      from((_request, response) => {
        response.writeHead(200, { 'content-length': 10, etag: '"a"' }).write('abc');
        setTimeout(() => response.destroy(), 20);
      }),
      failing(/closed the connection|cut off/, true),
    ));

  test('a fault is retried three times, then reported', async () => {
    let tries = 0;
    await assert.rejects(
      from((_request, response) => {
        tries += 1;
        response.writeHead(503).end('<Error><Code>SlowDown</Code><Message>slow</Message></Error>');
      }),
      failing(/bucket bucket .*SlowDown: slow/, true),
    );
    assert.equal(tries, 3);
  });

  test('HTML instead of a listing', () =>
    assert.rejects(
      from((_request, response) => response.end('<!doctype html><p>hello'), {
        definition: { key: undefined as never, pattern: '*' },
      }),
      failing(/answered HTTP 200/, false),
    ));

  test('a redirect is not followed', async () => {
    let requestCount = 0;
    await using other = await startHttp((_request, response) => {
      requestCount += 1;
      response.end();
    });
    const location = `http://127.0.0.1:${other.port}/`;
    for (const status of [301, 302, 307]) {
      await assert.rejects(
        from((_request, response) => response.writeHead(status, { location }).end()),
        failing(/answered HTTP 30/, false),
      );
    }
    assert.equal(requestCount, 0);
  });

  test('silence', () =>
    assert.rejects(
      from(() => undefined, { rules: { idleMs: 100 } }),
      failing(/does not answer/, true),
    ));
});

describe('hosts are checked', () => {
  const never = (): void => assert.fail('a guarded server received a request');
  const closed = { allowPrivateAddresses: false };
  for (const [endpoint, why] of [
    ['http://127.0.0.1:PORT', /is not on the public Internet/],
    ['http://[::ffff:127.0.0.1]:PORT', /is not on the public Internet/],
    ['http://localhost:PORT', /is not on the public Internet/],
    ['http://2130706433:PORT', /127\.0\.0\.1 is not on/],
    ['http://loop.test:PORT', /host loop\.test is unknown or is not on/],
    ['ftp://public.test', /begins with http/],
    ['http://a:b@public.test', /no user and no password/],
    ['http://public.test/path', /without a path/],
  ] as const) {
    test(endpoint, async () => {
      await using server = await startHttp(never);
      const definition = { endpoint: endpoint.replace('PORT', String(server.port)) };
      await assert.rejects(from(never, { definition, rules: closed }), failing(why, false));
    });
  }

  test('also the one that the client builds from bucket and region', async () => {
    const resolvedHosts: string[] = [];
    const resolve: S3Rules['resolve'] = async (host) => {
      resolvedHosts.push(host);
      return [{ address: '10.0.0.1', family: 4 }];
    };
    const definition = { endpoint: undefined as never, region: 'eu-west-1' };
    const sent = from(never, { definition, rules: { ...closed, resolve } });
    await assert.rejects(sent, failing(/amazonaws\.com is unknown or is not on/, false));
    assert.deepEqual([...new Set(resolvedHosts)], ['bucket.s3.eu-west-1.amazonaws.com']);
  });
});

test('valid and invalid definitions', () => {
  const definition: S3Definition = { type: 'AWS-S3', awsbucketName: 'my.bucket-1', key: 'a/b' };
  checkS3(definition, false);
  for (const [wrong, why] of [
    [{ awsbucketName: 'a/b' }, /no name of a bucket/],
    [{ awsbucketName: 'arn:aws:s3:us-east-1:1:accesspoint/x' }, /no name of a bucket/],
    [{ awsbucketName: '' }, /no name of a bucket/],
    [{ region: 'x.evil.test/' }, /"region"/],
    [{ key: '' }, /"key"/],
    [{ key: 'é'.repeat(513) }, /"key"/],
    [{ pattern: '*' }, /either "key" or "pattern"/],
  ] as const) {
    assert.throws(
      () => {
        checkS3({ ...definition, ...wrong }, false);
      },
      failing(why, false),
    );
  }
});
