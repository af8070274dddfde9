// Ensures that a lake file is read only if its bytes are those that were written. Its hash is compared when
// its identity on the disk has changed since the last successful check. Damage is cached until the repair.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { FileDigest, HashFile } from '../base/fileDigest.ts';
import type { Comparison, Proof } from './proofTable.ts';

/** A file of the lake, from its catalog. */
export interface LakeFile {
  /** Relative to the lake's root. */
  readonly path: string;
  readonly bytes: number;
  /** Undefined for a file from before hashes were stored that has not been compared yet. */
  readonly proof: Proof | undefined;
}

interface ProofParts {
  /** The lake's root. */
  readonly root: string;
  readonly hash: HashFile;
  /** A monotonic clock in milliseconds. */
  readonly monotonic: () => number;
  /** Called to store a result: damage, or a new identity of correct bytes. */
  readonly onCompared: (file: LakeFile, result: Comparison) => void;
}

/** The cached state of a file. */
interface FileState {
  readonly seen: string | undefined;
  /** A predicate such as `is missing`; undefined if the file is correct. */
  readonly damage: string | undefined;
  /** When the file's identity was last read. */
  checkedMs: number;
  /** When the file's bytes were last compared. */
  readonly comparedMs: number;
}

/** Up to so many files the identity is read at each use: 3 µs each, while a promise takes 20. */
const ALWAYS_CHECKED_MAX = 100;
/** The check interval for more files. */
const CHECK_INTERVAL_MS = 1_000;
/** Minimum interval of comparisons of a file after read errors. */
const COMPARE_INTERVAL_MS = 60_000;
/** Earlier than any time of a process, whose clock begins at 0. */
const NEVER = Number.NEGATIVE_INFINITY;
/** Limit of cached states; an evicted file is checked again. */
const STATES_MAX = 200_000;

export class FileProofs {
  readonly #parts: ProofParts;
  readonly #states = new Map<string, FileState>();
  readonly #checks = new Map<string, Promise<FileState>>();

  constructor(parts: ProofParts) {
    this.#parts = parts;
  }

  /**
   * Finds the damage of files, by path; correct files are not included.
   * @param compare compares the bytes even if the identity is unchanged
   */
  async findDamage(
    files: readonly LakeFile[],
    compare = false,
  ): Promise<ReadonlyMap<string, string>> {
    const nowMs = this.#parts.monotonic();
    const always = compare || files.length <= ALWAYS_CHECKED_MAX;
    const damage = new Map<string, string>();
    const unchecked: LakeFile[] = [];
    for (const file of files) {
      const state = this.#states.get(file.path);
      const due = state === undefined || always || nowMs - state.checkedMs >= CHECK_INTERVAL_MS;
      if (due && (compare || !this.#isSame(file.path, state, nowMs))) unchecked.push(file);
      else if (state?.damage !== undefined) damage.set(file.path, state.damage);
    }
    if (unchecked.length === 0) return damage;
    for (const [file, state] of await Promise.all(
      unchecked.map(async (one) => [one, await this.#checkOnce(one, compare)] as const),
    )) {
      if (state.damage !== undefined) damage.set(file.path, state.damage);
    }
    return damage;
  }

  /** Compares the bytes of a file in any case. @returns its damage, if any */
  async compare(file: LakeFile): Promise<string | undefined> {
    return (await this.#checkOnce(file, true)).damage;
  }

  /** Compares files after a read error, except those that were compared recently. @returns their damage */
  async compareAgain(files: readonly LakeFile[]): Promise<ReadonlyMap<string, string>> {
    const before = this.#parts.monotonic() - COMPARE_INTERVAL_MS;
    const due = files.filter(({ path }) => (this.#states.get(path)?.comparedMs ?? NEVER) <= before);
    for (const file of due) await this.compare(file);
    return this.findDamage(files);
  }

  /** Number of damaged files in the cache, for readiness and metrics. */
  get damagedCount(): number {
    let count = 0;
    for (const { damage } of this.#states.values()) if (damage !== undefined) count += 1;
    return count;
  }

  #isSame(path: string, state: FileState | undefined, nowMs: number): boolean {
    if (state === undefined || fileIdentity(join(this.#parts.root, path)) !== state.seen)
      return false;
    state.checkedMs = nowMs;
    return true;
  }

  #checkOnce(file: LakeFile, compare: boolean): Promise<FileState> {
    const running = this.#checks.get(file.path);
    if (running !== undefined && !compare) return running;
    const before = running ?? Promise.resolve();
    const check = before
      .then(() => this.#check(file, compare))
      .finally(() => {
        if (this.#checks.get(file.path) === check) this.#checks.delete(file.path);
      });
    this.#checks.set(file.path, check);
    return check;
  }

  async #check(file: LakeFile, compare: boolean): Promise<FileState> {
    const { monotonic, root } = this.#parts;
    const seen = fileIdentity(join(root, file.path));
    const state = this.#states.get(file.path);
    const checkedMs = monotonic();
    if (!compare && state !== undefined && state.seen === seen) {
      state.checkedMs = checkedMs;
      return state;
    }
    const right = state === undefined && seen !== undefined && seen === file.proof?.seen;
    if (!compare && (right || (seen !== undefined && file.proof === undefined))) {
      return this.#setState(file.path, { seen, damage: undefined, checkedMs, comparedMs: NEVER });
    }
    const damage = await this.#compareBytes(file, seen);
    return this.#setState(file.path, { seen, damage, checkedMs, comparedMs: checkedMs });
  }

  async #compareBytes(file: LakeFile, seen: string | undefined): Promise<string | undefined> {
    const { hash, onCompared, root } = this.#parts;
    const { bytes, path, proof } = file;
    const content =
      seen === undefined ? undefined : await hash(join(root, path), bytes).catch(ignoreMissing);
    const damage = describeDamage(content, bytes, proof?.sha256);
    const sha256 = proof?.sha256 ?? content?.sha256;
    if (proof !== undefined && sha256 !== undefined) {
      const { fileId } = proof;
      const identity = damage === undefined ? (seen ?? null) : null;
      const isNew = identity === null || identity !== proof.seen;
      if (isNew) onCompared(file, { fileId, sha256, seen: identity, damage: damage ?? null });
    }
    return damage;
  }

  #setState(path: string, state: FileState): FileState {
    if (this.#states.size >= STATES_MAX) {
      for (const [old, { damage }] of this.#states) {
        if (damage !== undefined) continue;
        this.#states.delete(old);
        break;
      }
    }
    this.#states.delete(path);
    this.#states.set(path, state);
    return state;
  }
}

function describeDamage(
  content: FileDigest | undefined,
  bytes: number,
  sha256: string | undefined,
): string | undefined {
  if (content === undefined) return 'is missing';
  if (content.bytes !== bytes) return describeLength(content.bytes, bytes);
  if (sha256 === undefined || content.sha256 === sha256) return undefined;
  return OTHER_CONTENT;
}

export const describeLength = (bytes: number, expected: number | undefined): string =>
  `has ${bytes} bytes instead of ${expected}`;

export const OTHER_CONTENT = 'is damaged: its SHA-256 is not the one that was written';

function ignoreMissing(error: unknown): undefined {
  if ((error as { readonly code?: string }).code !== 'ENOENT') throw error;
}

/** An identity that changes when a file is written or replaced; undefined if the file is missing. */
export function fileIdentity(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.ino}.${stats.size}.${stats.mtimeNs}`;
}
