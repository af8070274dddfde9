// One person's first hour: a folder with her files, a server that she starts, and her requests to it.
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Ran, type Started, startCommand } from '../../cli/command.ts';
import { runHere } from '../../cli/commandHere.ts';

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

export class Walk implements AsyncDisposable {
  readonly folder: string;
  /** The address of her server; empty until it is started. */
  base = '';
  readonly #env: Record<string, string>;
  readonly #children: ChildProcess[] = [];
  #server: Started | undefined;

  private constructor(folder: string, settings: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.#env = {
      TAPEDECK_DATA: join(folder, 'data'),
      TAPEDECK_PORT: '0',
      TAPEDECK_LOG: 'warn',
      TAPEDECK_DEMO: 'off',
      TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on',
      ...settings,
    };
  }

  static async open(settings: Readonly<Record<string, string>> = {}): Promise<Walk> {
    return new Walk(await mkdtemp(join(tmpdir(), 'tapedeck-walk-')), settings);
  }

  /** Creates a workspace W with a dataset P of these lines, by symbol and date. */
  async fill(csv: string): Promise<void> {
    await this.runCommand('workspace', 'create', 'W');
    await this.write('p.csv', csv);
    await this.runCommand('ingest', 'p.csv', '--dataset', 'P', '--key', 'symbol', '--date', 'date');
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, text: string | Uint8Array): Promise<void> {
    return writeFile(this.path(name), text);
  }

  /** Runs a command in her folder. */
  run(args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ran> {
    return runHere(args, { env: { ...this.#env, ...more }, cwd: this.folder });
  }

  /** Runs a command that must succeed and returns its output. */
  async runCommand(...args: readonly string[]): Promise<string> {
    const { code, stderr, stdout } = await this.run(args);
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Runs a command that must fail and returns its error. */
  async refuses(...args: readonly string[]): Promise<string> {
    const { code, stderr, stdout } = await this.run(args);
    expect([args, code]).toEqual([args, 1]);
    return `${stdout}${stderr}`;
  }

  /** Starts her server, in another data folder if one is set, and waits until it listens. */
  async serve(more: Readonly<Record<string, string>> = {}): Promise<string> {
    const server = startCommand(['serve'], { env: { ...this.#env, ...more } }, this.#children);
    this.#server = server;
    for (;;) {
      const output = `${server.output.stdout}${server.output.stderr}`;
      const base = /listens on (\S+)/.exec(output)?.[1];
      if (base !== undefined) {
        this.base = base;
        return output;
      }
      if (server.child.exitCode !== null) throw new Error(`it ended: ${output}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** The output of her server so far. */
  log(): string {
    const { stderr = '', stdout = '' } = this.#server?.output ?? {};
    return `${stdout}${stderr}`;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#server?.child.kill(signal);
    await this.#server?.ended;
    this.#server = undefined;
  }

  /** The text of her token of a kind. */
  async token(kind: 'publishable' | 'secret'): Promise<string> {
    const listed = await this.runCommand('tokens', 'list', '--show', '--json');
    const tokens = listed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string; test: boolean; token: string });
    return tokens.find((one) => one.kind === kind && !one.test)?.token ?? '';
  }

  /** @param path below the host */
  async ask(path: string, how: RequestInit = {}): Promise<Answer> {
    const answer = await fetch(`${this.base}${path}`, how);
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    await rm(this.folder, { recursive: true, force: true });
  }
}
