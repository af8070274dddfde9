// The driver's side of a victim: starts it in its own process group, watches it, kills it, and never leaves
// it running.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AtCrashPoint } from '../../../../store/base/crashPoints.ts';
import { CATALOGS } from '../../../base/catalogElsewhere.ts';
import type { Door } from './writer.ts';
import { startedBy } from '../../../base/program.ts';

export type CrashPoint = Parameters<AtCrashPoint>[0];

/** Points at which a commit may be interrupted, in the order in which it passes them. */
export const COMMIT_POINTS = [
  'parquet-written',
  'file-synced',
  'file-renamed',
  'folder-synced',
  'transaction-open',
  'transaction-committed',
  'change-announced',
] as const satisfies readonly CrashPoint[];

/** The victim kills itself at the point, after it has passed it `passes` times. */
export interface Fuse {
  readonly point: CrashPoint;
  readonly passes: number;
}

/** A busy machine starts Node in seconds; after this time the start counts as hanging. */
const START_MS_MAX = 120_000;

export class Victim implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #heard: string[] = [];
  #line = '';
  #errorOutput = '';
  #killedMs: number | undefined;
  #isGone = false;
  #wake: () => void = () => undefined;

  private constructor(folder: string, fuse: Fuse | undefined, catalogs: string) {
    const script = startedBy('test/soak/crash/victim/victim.ts');
    const last = fuse === undefined ? [] : [fuse.point, String(fuse.passes)];
    const flags = ['--disable-warning=ExperimentalWarning'];
    this.#child = spawn(process.execPath, [...flags, script, folder, ...last], {
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, [CATALOGS]: catalogs },
    });
    const ended = new Promise<void>((resolve) => {
      this.#child.once('exit', () => {
        this.#killedMs ??= Date.now();
        resolve();
      });
    });
    // Its last output may arrive after its exit.
    const silent = new Promise<void>((resolve) => this.#child.stdout?.once('close', resolve));
    this.#exited = Promise.all([ended, silent]).then(() => {
      this.#isGone = true;
      this.#wake();
    });
    this.#child.stdin?.on('error', () => undefined);
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#hear(text));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errorOutput = (this.#errorOutput + text).slice(-4_000);
    });
  }

  /**
   * Starts a victim and waits until it answers or has ended: its fuse may trigger during the start.
   * @param catalogs the PostgreSQL of its catalog; '' for its folder
   */
  static async start(folder: string, fuse?: Fuse, catalogs = ''): Promise<Victim> {
    const victim = Victim.launch(folder, fuse, catalogs);
    await victim.#until((line) => line.startsWith('base '), START_MS_MAX);
    return victim;
  }

  /** Starts a victim without waiting. */
  static launch(folder: string, fuse?: Fuse, catalogs = ''): Victim {
    return new Victim(folder, fuse, catalogs);
  }

  get door(): Door {
    const parts = this.#heard.find((line) => line.startsWith('base '))?.split(' ');
    const [, base = '', publishable = '', secret = ''] = parts ?? [];
    return { base, publishable, secret };
  }

  /** It answers, or answered before it was killed. */
  get started(): boolean {
    return this.door.base !== '';
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** The crash point that killed it. */
  get killedAt(): string | undefined {
    return this.#heard.find((line) => line.startsWith('killed '))?.split(' ')[1];
  }

  /** When it was killed, in epoch milliseconds: as it reported, or as the driver measured. */
  get killedMs(): number {
    const own = this.#heard.find((line) => line.startsWith('killed '))?.split(' ')[2];
    return own === undefined ? (this.#killedMs ?? Date.now()) : Number(own);
  }

  /** The end of its stderr. */
  get errorOutput(): string {
    return this.#errorOutput.trim();
  }

  async arm(fuse: Fuse): Promise<void> {
    this.#child.stdin?.write(`arm ${fuse.point} ${fuse.passes}\n`);
    await this.#until((line) => line === 'armed', START_MS_MAX);
  }

  /** From now on it compacts files and thins versions continuously. */
  async live(): Promise<void> {
    this.#child.stdin?.write('live\n');
    await this.#until((line) => line === 'living', START_MS_MAX);
  }

  /** Kills the server alone, or its DuckDB children with it. */
  kill(group: boolean): void {
    if (this.#isGone) return;
    if (group) signalGroup(this.#child.pid);
    else this.#child.kill('SIGKILL');
    this.#killedMs = Date.now();
  }

  async exited(): Promise<void> {
    await this.#exited;
  }

  /** Shuts it down as an operator would; returns a fault if it does not exit with 0 in time. */
  async close(): Promise<readonly string[]> {
    this.#child.stdin?.write('close\n');
    await Promise.race([this.#exited, sleep(START_MS_MAX, undefined, { ref: false })]);
    const isWell = this.#isGone && this.#child.exitCode === 0;
    return isWell ? [] : [`the server did not close well: ${this.errorOutput}`];
  }

  /** Processes of its group that still run: a killed server's children should end on their own. */
  leftProcesses(): readonly number[] {
    return groupMembers(this.#child.pid ?? -1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    signalGroup(this.#child.pid);
    if (this.#child.pid !== undefined) await this.#exited;
  }

  #hear(text: string): void {
    const lines = (this.#line + text).split('\n');
    this.#line = lines.pop() ?? '';
    this.#heard.push(...lines);
    this.#wake();
  }

  async #until(heard: (line: string) => boolean, timeoutMs: number): Promise<void> {
    const late = setTimeout(() => this.#wake(), timeoutMs);
    const giveUpMs = Date.now() + timeoutMs;
    while (!this.#isGone && !this.#heard.some(heard) && Date.now() < giveUpMs) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    clearTimeout(late);
  }
}

function signalGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of the group is left.
  }
}

/** Running members of a process group, from Linux's /proc; none on other systems. */
function groupMembers(group: number): readonly number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return Number(itsGroup) === group && state !== 'Z' ? [Number(name)] : [];
    } catch {
      // It ended meanwhile.
      return [];
    }
  });
}
