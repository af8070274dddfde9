// The driver of the subject: starts it on a folder at a time, sends orders, measures its memory, closes
// or kills it, and never leaves it running.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { treeBytes } from '../../bench/base/measure.ts';
import type { SubjectCounts, SubjectOrder } from './subject.ts';
import { startedBy } from '../base/program.ts';

interface Door {
  readonly base: string;
  readonly publishable: string;
  readonly secret: string;
}

interface OrderReply {
  readonly value?: unknown;
  readonly failed?: string;
}

export class Subject implements AsyncDisposable {
  readonly door: Door;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #exited: Promise<void>;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>, door: Door) {
    this.#child = child;
    this.#lines = lines;
    this.door = door;
    this.#exited = new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) resolve();
      else child.once('exit', () => resolve());
    });
  }

  /** Starts a server that answers, with its clock at `startMs`. */
  static async start(
    folder: string,
    startMs: number,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<Subject> {
    const script = startedBy('test/life/subject.ts');
    const flags = ['--disable-warning=ExperimentalWarning', '--expose-gc'];
    const pairs = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
    const words = [...flags, script, folder, String(startMs), ...pairs];
    const child = spawn(process.execPath, words, {
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    if (child.stdout === null) throw new Error('the subject has no stdout');
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const first = await lines.next();
    if (first.done === true) throw new Error('the subject ended at its start');
    return new Subject(child, lines, JSON.parse(first.value) as Door);
  }

  /** The reason why an order failed; undefined on success. */
  async order(order: SubjectOrder): Promise<string | undefined> {
    return (await this.#ask(order)).failed;
  }

  async counts(): Promise<SubjectCounts> {
    return (await this.#ask({ order: 'counts' })).value as SubjectCounts;
  }

  /** Resident bytes of the server, and of it with its children. */
  async weigh(): Promise<{ readonly server: number; readonly tree: number }> {
    const pid = this.#child.pid ?? 0;
    return { server: await treeBytes(pid, false), tree: await treeBytes(pid) };
  }

  /** Ends it as an operator would. */
  async close(): Promise<void> {
    const failed = await this.order({ order: 'close' });
    await this.#exited;
    if (failed !== undefined) throw new Error(`the subject did not close well: ${failed}`);
  }

  /** Kills it with its children. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // Nothing of the group is left.
    }
    await this.#exited;
  }

  async #ask(order: SubjectOrder): Promise<OrderReply> {
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
    const line = await this.#lines.next();
    return line.done === true
      ? { failed: 'the subject has gone' }
      : (JSON.parse(line.value) as OrderReply);
  }
}
