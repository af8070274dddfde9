// A lake file is read only while its bytes are those that were written. Its hash is compared when its
// identity on the disk is not the one under which it was right; what is damaged stays so until it is healed.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Content, HashFile } from '../base/contents.ts';
import type { Compared, Proof } from './proofTable.ts';

/** A file of the lake as its catalog knows it. */
export interface LakeFile {
  /** Relative to the lake's root. */
  readonly path: string;
  readonly bytes: number;
  /** Undefined for a file that was written before there were hashes, and not compared yet. */
  readonly proof: Proof | undefined;
}

interface ProofParts {
  /** The lake's root. */
  readonly root: string;
  readonly hash: HashFile;
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
  /** What was found is to be kept: damage, or another identity of right bytes. */
  readonly onCompared: (file: LakeFile, found: Compared) => void;
}

interface Known {
  readonly seen: string | undefined;
  /** A sentence without a subject: `is missing`. */
  readonly damage: string | undefined;
  /** When the file's identity was asked last, and its bytes. */
  lookedMs: number;
  readonly comparedMs: number;
}

/** Of so many files the identity is asked at each read: 3 µs each, where a promise costs 20. */
const LOOKED_ALWAYS_MAX = 100;
/** Of more, at most so often. */
const LOOK_MS = 1_000;
/** Whoever meets an error in a file has it compared again, at most so often. */
const COMPARE_AGAIN_MS = 60_000;
/** Also in the first minute of a process, whose clock begins at 0. */
const NEVER = Number.NEGATIVE_INFINITY;
/** Files that are remembered; one that was forgotten is looked at again. */
const KNOWN_MAX = 200_000;

export class FileProofs {
  readonly #parts: ProofParts;
  readonly #known = new Map<string, Known>();
  readonly #asking = new Map<string, Promise<Known>>();

  constructor(parts: ProofParts) {
    this.#parts = parts;
  }

  /**
   * What is wrong with files, by path: only of those that are damaged.
   * @param compare their bytes, though nothing says that they are others
   */
  async damageOf(
    files: readonly LakeFile[],
    compare = false,
  ): Promise<ReadonlyMap<string, string>> {
    const nowMs = this.#parts.monotonic();
    const always = compare || files.length <= LOOKED_ALWAYS_MAX;
    const damage = new Map<string, string>();
    const unsure: LakeFile[] = [];
    for (const file of files) {
      const known = this.#known.get(file.path);
      const due = known === undefined || always || nowMs - known.lookedMs >= LOOK_MS;
      if (due && (compare || !this.#isSame(file.path, known, nowMs))) unsure.push(file);
      else if (known?.damage !== undefined) damage.set(file.path, known.damage);
    }
    if (unsure.length === 0) return damage;
    for (const [file, known] of await Promise.all(
      unsure.map(async (one) => [one, await this.#look(one, compare)] as const),
    )) {
      if (known.damage !== undefined) damage.set(file.path, known.damage);
    }
    return damage;
  }

  /** Compares the bytes, though they were right before; what is wrong with the file, if anything is. */
  async compare(file: LakeFile): Promise<string | undefined> {
    return (await this.#look(file, true)).damage;
  }

  /** After an error in a read of these: the same, of those that were not just compared. */
  async compareAgain(files: readonly LakeFile[]): Promise<ReadonlyMap<string, string>> {
    const before = this.#parts.monotonic() - COMPARE_AGAIN_MS;
    const due = files.filter(({ path }) => (this.#known.get(path)?.comparedMs ?? NEVER) <= before);
    for (const file of due) await this.compare(file);
    return this.damageOf(files);
  }

  /** Of all that is remembered, for readiness and metrics. */
  get damaged(): number {
    let count = 0;
    for (const { damage } of this.#known.values()) if (damage !== undefined) count += 1;
    return count;
  }

  #isSame(path: string, known: Known | undefined, nowMs: number): boolean {
    if (known === undefined || identityOf(join(this.#parts.root, path)) !== known.seen)
      return false;
    known.lookedMs = nowMs;
    return true;
  }

  #look(file: LakeFile, compare: boolean): Promise<Known> {
    const asking = this.#asking.get(file.path);
    if (asking !== undefined && !compare) return asking;
    const before = asking ?? Promise.resolve();
    const asked = before
      .then(() => this.#ask(file, compare))
      .finally(() => {
        if (this.#asking.get(file.path) === asked) this.#asking.delete(file.path);
      });
    this.#asking.set(file.path, asked);
    return asked;
  }

  async #ask(file: LakeFile, compare: boolean): Promise<Known> {
    const { monotonic, root } = this.#parts;
    const seen = identityOf(join(root, file.path));
    const known = this.#known.get(file.path);
    const lookedMs = monotonic();
    if (!compare && known !== undefined && known.seen === seen) {
      known.lookedMs = lookedMs;
      return known;
    }
    const right = known === undefined && seen !== undefined && seen === file.proof?.seen;
    if (!compare && (right || (seen !== undefined && file.proof === undefined))) {
      return this.#keep(file.path, { seen, damage: undefined, lookedMs, comparedMs: NEVER });
    }
    const damage = await this.#damage(file, seen);
    return this.#keep(file.path, { seen, damage, lookedMs, comparedMs: lookedMs });
  }

  async #damage(file: LakeFile, seen: string | undefined): Promise<string | undefined> {
    const { hash, onCompared, root } = this.#parts;
    const { bytes, path, proof } = file;
    const found = seen === undefined ? undefined : await hash(join(root, path), bytes).catch(gone);
    const damage = wrong(found, bytes, proof?.sha256);
    const sha256 = proof?.sha256 ?? found?.sha256;
    if (proof !== undefined && sha256 !== undefined) {
      const { fileId } = proof;
      const kept = damage === undefined ? (seen ?? null) : null;
      const isNew = kept === null || kept !== proof.seen;
      if (isNew) onCompared(file, { fileId, sha256, seen: kept, damage: damage ?? null });
    }
    return damage;
  }

  #keep(path: string, known: Known): Known {
    if (this.#known.size >= KNOWN_MAX) {
      for (const [old, { damage }] of this.#known) {
        if (damage !== undefined) continue;
        this.#known.delete(old);
        break;
      }
    }
    this.#known.delete(path);
    this.#known.set(path, known);
    return known;
  }
}

function wrong(
  found: Content | undefined,
  bytes: number,
  sha256: string | undefined,
): string | undefined {
  if (found === undefined) return 'is missing';
  if (found.bytes !== bytes) return `has ${found.bytes} bytes instead of ${bytes}`;
  if (sha256 === undefined || found.sha256 === sha256) return undefined;
  return 'is damaged: its SHA-256 is not the one that was written';
}

function gone(error: unknown): undefined {
  if ((error as { readonly code?: string }).code !== 'ENOENT') throw error;
}

/** Changes whenever a file is written or exchanged; undefined where there is none. */
export function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.ino}.${found.size}.${found.mtimeNs}`;
}
