// A real server for tests: in this process, on a free port, on a folder of its own.
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { localDisk } from '../../store/base/disk.ts';
import { type Directory, LiveDirectory } from '../../store/lake/datasets/directory.ts';
import { startTapedeck, type Tapedeck } from '../../app/main.ts';
import { createWorkspace } from '../../store/lake/datasetEdits.ts';
import { createStorage } from '../../store/lake/storage.ts';
import { readSettings } from '../../store/base/settings/settings.ts';
import { catalogElsewhere, isElsewhere } from './catalogElsewhere.ts';
import { stockedProcesses } from './childStock.ts';
import { emptyFolder, startedFolder } from './freshFolders.ts';
import { stockedThreads } from './threadStock.ts';
import type { Seams } from '../../app/core.ts';

export interface TestServer extends AsyncDisposable {
  /** `http://127.0.0.1:port`. */
  readonly base: string;
  readonly publishable: string;
  readonly secret: string;
  readonly folder: string;
  readonly tapedeck: Tapedeck;
  close(): Promise<void>;
}

interface TestServerOptions {
  readonly settings?: Readonly<Record<string, string>>;
  readonly seams?: Seams;
  /** An existing data folder, which is then kept; otherwise a temporary one, removed at the end. */
  readonly folder?: string;
  /** Creates the account with this server, instead of using a copied folder with an older one. */
  readonly ownAccount?: true;
}

const TEST_TOKENS = {
  publishable: 'pk_00000000000000000000000000000001',
  secret: 'sk_00000000000000000000000000000002',
} as const;

/** Starts with a workspace `WS` of the first account and no demo. */
export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const folder = options.folder ?? (await folderFor(options));
  const settings = readSettings({
    ...catalogElsewhere(folder),
    TAPEDECK_DATA: folder,
    TAPEDECK_PORT: '0',
    TAPEDECK_DEMO: 'off',
    // One reader of a server is enough for most tests, and each takes 0.3 s of processor time to start.
    TAPEDECK_CHILDREN: '1',
    TAPEDECK_LOG: 'silent',
    TAPEDECK_RATE_LIMIT: 'off',
    TAPEDECK_PUBLISHABLE_TOKEN: TEST_TOKENS.publishable,
    TAPEDECK_SECRET_TOKEN: TEST_TOKENS.secret,
    ...options.settings,
  });
  const stocks = { processes: stockedProcesses, threads: stockedThreads };
  const seams = { warm: false, ...stocks, ...options.seams };
  const tapedeck = await startTapedeck(settings, seams);
  const { lake } = tapedeck.services;
  if (lake.directory.workspace('WS') === undefined) {
    await createWorkspace(lake, 'WS', tapedeck.accountId, 0);
  }
  const close = async (): Promise<void> => {
    await checkDirectory(tapedeck.services);
    await checkBytes(tapedeck.services);
    await tapedeck.close();
    if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
  };
  const { base } = tapedeck;
  return { base, ...TEST_TOKENS, folder, tapedeck, close, [Symbol.asyncDispose]: close };
}

/** Settings and seams that may change the data that a first start writes into its folder. */
const OF_FIRST_START = /TOKEN|ENCRYPTION|DATABASE|S3|BUS|DEMO|NODE|STANDBY/;
const LATER_SEAMS = ['monotonic', 'pace', 'processes', 'threads', 'warm', 'watch'];

/** A copied folder, if the first start would not differ from any other. */
function folderFor({ ownAccount, seams = {}, settings = {} }: TestServerOptions): Promise<string> {
  const isOwn =
    ownAccount === true ||
    isElsewhere() ||
    Object.keys(settings).some((name) => OF_FIRST_START.test(name)) ||
    Object.keys(seams).some((name) => !LATER_SEAMS.includes(name));
  if (isOwn) return emptyFolder();
  return startedFolder(async (folder) => (await startServer({ folder })).close());
}

/** A commit reaches the catalog a moment before the memory, and loads may run at the end of a test. */
const CATCHES_UP_MS = 5_000;

/** Checks after each test that the workspaces and datasets in memory equal those of the catalog. */
async function checkDirectory({ database, lake }: Tapedeck['services']): Promise<void> {
  const listDirectory = ({ directory }: { readonly directory: Directory }): unknown =>
    directory
      .allWorkspaces()
      .map((item) => [item, directory.datasets(item.workspace)] as const)
      .sort(([one], [other]) => one.workspace.localeCompare(other.workspace));
  for (const untilMs = performance.now() + CATCHES_UP_MS; ; await sleep(20)) {
    const { view } = await LiveDirectory.load(database);
    if (isDeepStrictEqual(listDirectory(lake), listDirectory({ directory: view }))) return;
    if (performance.now() > untilMs) {
      return assert.deepEqual(listDirectory(lake), listDirectory({ directory: view }));
    }
  }
}

/** Checks the same for their bytes, unless there is a commit meanwhile. */
async function checkBytes({ database, lake, storage }: Tapedeck['services']): Promise<void> {
  const { state } = lake;
  const anew = createStorage(database, lake, { state: 0 });
  for (const { workspace } of lake.directory.allWorkspaces()) {
    for (const untilMs = performance.now() + CATCHES_UP_MS; ; await sleep(20)) {
      const [cachedBytes, read] = [
        await storage.workspaceBytes(workspace),
        await anew.workspaceBytes(workspace),
      ];
      if (lake.state !== state || isDeepStrictEqual(cachedBytes, read)) break;
      if (performance.now() > untilMs)
        return assert.deepEqual(cachedBytes, read, `bytes of ${workspace}`);
    }
  }
}

/** Paths of all files of the lake, referenced or not. */
export const lakePaths = ({ folder }: TestServer): Promise<readonly string[]> =>
  localDisk.list(join(folder, 'lake'));

/** Copies the state that a kill would leave, while neither this process nor its catalog thread writes. */
export const copyAtOnce = ({ folder, tapedeck }: TestServer, to: string): Promise<void> =>
  tapedeck.services.database.connection().execute(async () => {
    cpSync(folder, to, { recursive: true, filter: (path) => !path.includes('lock.db') });
  });

/** Work with a server on a folder that is kept, without background work. */
export async function served<T>(
  folder: string,
  work: (server: TestServer) => Promise<T>,
): Promise<T> {
  await using server = await startServer({ folder, seams: { watch: false } });
  return await work(server);
}
