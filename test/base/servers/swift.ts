// OpenStack Swift with its S3 interface: proxy, account, container and object server on loopback,
// one replica on one folder. It is the S3 store that Debian has.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startCache } from './cache.ts';
import { freePort, programIn, startDaemon } from './daemon.ts';

/** An account of a Swift, with buckets of its own. */
interface SwiftAccount {
  readonly port: number;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** A key of the same account without any rights. */
  readonly stranger: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

export interface Swift extends SwiftAccount, AsyncDisposable {}

/** A store that another process started. */
interface RunningSwift extends AsyncDisposable {
  readonly port: number;
}

/** Maximum number of test files for one store; each has an account. */
const ACCOUNTS = 1_000;

export const swiftAccount = (port: number, number: number): SwiftAccount => ({
  port,
  accessKeyId: `test${number % ACCOUNTS}:tester`,
  secretAccessKey: 'testing',
  stranger: { accessKeyId: `test${number % ACCOUNTS}:stranger`, secretAccessKey: 'strange' },
});

/** The variable with the address where test files request an account of the shared store. */
export const SWIFT_URL = 'TAPEDECK_TEST_SWIFT';

/** Chunk size of bodies in two Python programs, whose default is 64 KiB. */
const CHUNK_BYTES = 1024 ** 2;

const STORES = ['account', 'container', 'object'] as const;

// `s3api` comes before `tempauth`: in the other order every signature is refused.
const PIPELINE =
  'catch_errors gatekeeper healthcheck cache listing_formats s3api tempauth slo proxy-server';

// One program for three rings: the command line tool would be started nine times.
const RINGS = `
import sys
from swift.common.ring import RingBuilder
folder, *stores = sys.argv[1:]
for store in stores:
    name, port = store.split('=')
    builder = RingBuilder(6, 1, 0)
    builder.add_dev({'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': int(port),
        'replication_ip': '127.0.0.1', 'replication_port': int(port), 'device': 'd1',
        'weight': 1.0, 'meta': ''})
    builder.rebalance()
    builder.get_ring().save(folder + '/' + name + '.ring.gz')
`;

/**
 * An account of the shared store, or of one that is started for the caller.
 * @returns undefined where the machine has no Swift (Debian: swift-proxy, -account, -container and -object)
 */
export async function startSwift(): Promise<Swift | undefined> {
  const url = process.env[SWIFT_URL];
  if (url !== undefined) {
    const answer = await fetch(url, { headers: { connection: 'close' } });
    const account = (await answer.json()) as SwiftAccount | { readonly missing: true };
    return 'missing' in account
      ? undefined
      : { ...account, [Symbol.asyncDispose]: async () => undefined };
  }
  const running = await runSwift();
  return running === undefined ? undefined : { ...running, ...swiftAccount(running.port, 0) };
}

/** Undefined where the machine has none. */
export async function runSwift(): Promise<RunningSwift | undefined> {
  const programs = ['proxy', ...STORES].map((name) => `swift-${name}-server`);
  for (const name of programs) if ((await programIn(name)) === undefined) return undefined;
  const stack = new AsyncDisposableStack();
  try {
    const folder = await mkdtemp(join(tmpdir(), 'tapedeck-swift-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const ports = await Promise.all(STORES.map(() => freePort()));
    await mkdir(join(folder, 'devices', 'd1'), { recursive: true });
    await writeFile(join(folder, 'swift.conf'), SWIFT);
    const rings = STORES.map((store, index) => `${store}=${ports[index]}`);
    await promisify(execFile)('/usr/bin/python3', ['-c', RINGS, folder, ...rings]);
    const started = STORES.map((store, index) =>
      startServer(folder, store, ports[index] ?? 0, storeConfiguration(store)),
    );
    for (const server of await Promise.all(started)) stack.use(server);
    const [port, cache] = await Promise.all([freePort(), startCache()]);
    stack.use(cache);
    stack.use(await startServer(folder, 'proxy', port, proxyConfiguration(cache.port)));
    const owned = stack.move();
    return { port, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  } finally {
    await stack.disposeAsync();
  }
}

async function startServer(
  folder: string,
  name: string,
  port: number,
  sections: string,
): Promise<AsyncDisposable> {
  const file = join(folder, `${name}.conf`);
  await writeFile(file, `${configuration(folder, port)}${sections}`);
  const path = name === 'proxy' ? 'healthcheck' : 'recon/version';
  return startDaemon({
    command: [`swift-${name}-server`, file],
    isReady: async () => (await fetch(`http://127.0.0.1:${port}/${path}`)).status < 500,
  });
}

const SWIFT = `[swift-hash]
swift_hash_path_suffix = test
[storage-policy:0]
name = one
default = yes
`;

const configuration = (folder: string, port: number): string => `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = ${userInfo().username}
swift_dir = ${folder}
devices = ${join(folder, 'devices')}
mount_check = false
log_level = ERROR
`;

const storeConfiguration = (store: string): string => `[pipeline:main]
pipeline = ${store}-server
[app:${store}-server]
use = egg:swift#${store}
disk_chunk_size = ${CHUNK_BYTES}
network_chunk_size = ${CHUNK_BYTES}
`;

const filters = ['catch_errors', 'gatekeeper', 'healthcheck', 'listing_formats', 's3api', 'slo']
  .map((name) => `[filter:${name}]\nuse = egg:swift#${name}\n`)
  .join('');

// Of each account `tester` owns the buckets; `stranger` may not read them.
const USERS = Array.from(
  { length: ACCOUNTS },
  (_, at) => `user_test${at}_tester = testing .admin\nuser_test${at}_stranger = strange\n`,
).join('');

const proxyConfiguration = (cachePort: number): string => `[pipeline:main]
pipeline = ${PIPELINE}
${filters}[filter:tempauth]
use = egg:swift#tempauth
${USERS}[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:${cachePort}
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
object_chunk_size = ${CHUNK_BYTES}
client_chunk_size = ${CHUNK_BYTES}
`;
