// A folder with an empty CORE, and files loaded into it by `tapedeck core load`.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeServerFile } from '../../../cli/connect/folderAccess.ts';
import { read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import type { Ran } from '../../cli/command.ts';
import { commandEnv, runHere } from '../../cli/commandHere.ts';

export interface CoreFolder extends AsyncDisposable {
  readonly server: TestServer;
  /** Runs `tapedeck core load` with these arguments, without `--yes`. */
  load(args: readonly string[], input?: string): Promise<Ran>;
  /** The same with `--yes`; it must succeed. */
  loaded(...args: readonly string[]): Promise<Ran>;
  run(...args: readonly string[]): Promise<Ran>;
  /** Writes a file of these lines; returns its name. */
  write(name: string, ...lines: readonly string[]): Promise<string>;
  /** The answer of an endpoint below /v1. */
  get(path: string): Promise<unknown>;
}

/** The path of a file in `cases/`. */
export const caseFile = (name: string): string =>
  fileURLToPath(new URL(`cases/${name}`, import.meta.url));

export async function coreFolder(): Promise<CoreFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-core-'));
  const server = await startServer();
  await writeServerFile(server.folder, { base: server.base });
  const run = (args: readonly string[], input?: string): Promise<Ran> =>
    runHere(args, {
      env: commandEnv(server),
      cwd: folder,
      ...(input === undefined ? {} : { input, isTTY: true }),
    });
  return {
    server,
    run: (...args) => run(args),
    load: (args, input) => run(['core', 'load', ...args], input),
    loaded: async (...args) => {
      const ran = await run(['core', 'load', ...args, '--yes']);
      assert.equal(ran.code, 0, ran.stderr + ran.stdout);
      return ran;
    },
    write: async (name, ...lines) => {
      await writeFile(join(folder, name), `${lines.join('\n')}\n`);
      return name;
    },
    get: async (path) => JSON.parse(await read(server, path)) as unknown,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
