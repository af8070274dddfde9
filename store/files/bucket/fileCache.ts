// Copies of files of a bucket on this disk. One that is wanted is fetched once, whoever waits for it; past a
// size those go that nobody has open and that were used longest ago.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disk } from '../../base/disk.ts';
import { diskFull, isDiskFull } from '../../base/failure.ts';
import { fetchInto } from './fetchInto.ts';

interface CacheParts {
  /** Of the copies: a file's path below it is its path in the lake. */
  readonly root: string;
  /** For files that are being fetched; on the same disk. */
  readonly temporary: string;
  readonly disk: Disk;
  /** Of all copies; those that are open may be more. */
  readonly bytesMax: number;
  /** Fetches a file of the lake; false where there is none. */
  readonly fetch: (path: string, target: string) => Promise<boolean>;
  /** A copy could not be removed: it stays until it is tried again. */
  readonly onFault: (reason: unknown) => void;
}

/** Files that are fetched at once; the store's client has sockets for all of their pieces. */
export const FETCHES_MAX = 4;

export class FileCache {
  readonly #parts: CacheParts;
  /** Bytes by path, the one used longest ago first. */
  readonly #sizes = new Map<string, number>();
  readonly #held = new Map<string, number>();
  readonly #fetching = new Map<string, Promise<void>>();
  /** Copies that are being removed. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  #fetches = 0;
  #bytes = 0;
  #fetched = 0;

  private constructor(parts: CacheParts) {
    this.#parts = parts;
  }

  /** Takes over the copies that are there. */
  static async open(parts: CacheParts): Promise<FileCache> {
    const cache = new FileCache(parts);
    for (const path of await parts.disk.list(parts.root)) await cache.added(path);
    return cache;
  }

  get state(): { readonly files: number; readonly bytes: number; readonly fetched: number } {
    return { files: this.#sizes.size, bytes: this.#bytes, fetched: this.#fetched };
  }

  has(path: string): boolean {
    return this.#sizes.has(path);
  }

  /**
   * Has copies of files, as far as the bucket has them, until the returned function is called.
   * @throws what `fetch` throws; Failure DiskFull
   */
  async hold(paths: readonly string[]): Promise<() => void> {
    for (const path of paths) this.#held.set(path, (this.#held.get(path) ?? 0) + 1);
    const release = this.#releaseOf(paths);
    try {
      const missing = paths.filter((path) => !this.#use(path));
      if (missing.length > 0) await Promise.all(missing.map((path) => this.#fetchOnce(path)));
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** A copy was put there. */
  async added(path: string): Promise<void> {
    const { size } = await stat(join(this.#parts.root, path));
    this.#forget(path);
    this.#sizes.set(path, size);
    this.#bytes += size;
    void this.#trim(this.#parts.bytesMax);
  }

  /** A copy was removed, and its file with it. */
  dropped(path: string): void {
    this.#forget(path);
  }

  /** The files are no more: whatever there is of their copies goes, though somebody reads it. */
  drop(paths: readonly string[]): void {
    for (const path of paths) {
      void this.#fetching.get(path)?.then(
        () => this.drop([path]),
        () => undefined,
      );
      if (!this.#sizes.has(path)) continue;
      this.#forget(path);
      void this.#leave(path);
    }
  }

  /** All copies go: of which files are no more is not known. */
  clear(): void {
    this.drop([...this.#sizes.keys(), ...this.#fetching.keys()]);
  }

  /** A copy that is not what it should be is fetched anew. */
  async again(path: string): Promise<void> {
    this.#forget(path);
    await this.#fetchOnce(path);
  }

  #releaseOf(paths: readonly string[]): () => void {
    let holds = true;
    return () => {
      if (!holds) return;
      holds = false;
      for (const path of paths) {
        const left = (this.#held.get(path) ?? 1) - 1;
        if (left > 0) this.#held.set(path, left);
        else this.#held.delete(path);
      }
      void this.#trim(this.#parts.bytesMax);
    };
  }

  #use(path: string): boolean {
    const size = this.#sizes.get(path);
    if (size === undefined) return false;
    this.#sizes.delete(path);
    this.#sizes.set(path, size);
    return true;
  }

  #forget(path: string): void {
    this.#bytes -= this.#sizes.get(path) ?? 0;
    this.#sizes.delete(path);
  }

  #fetchOnce(path: string): Promise<void> {
    const known = this.#fetching.get(path);
    if (known !== undefined) return known;
    const fetching = this.#inTurn(() => this.#fetch(path)).finally(() =>
      this.#fetching.delete(path),
    );
    this.#fetching.set(path, fetching);
    return fetching;
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    if (this.#fetches >= FETCHES_MAX) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#fetches += 1;
    try {
      await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#fetches -= 1;
      else next();
    }
  }

  async #fetch(path: string): Promise<void> {
    await this.#leaving.get(path);
    try {
      await this.#copy(path);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      // Copies are what may go.
      await this.#trim(0);
      await this.#copy(path).catch((again: unknown) => {
        throw isDiskFull(again) ? diskFull(this.#parts.root) : again;
      });
    }
  }

  async #copy(path: string): Promise<void> {
    const { disk, fetch, root, temporary } = this.#parts;
    const order = { disk, temporary, fetch: (part: string) => fetch(path, part) };
    if (!(await fetchInto(join(root, path), order))) return;
    this.#fetched += 1;
    await this.added(path);
  }

  #trim(bytesMax: number): Promise<unknown> {
    const gone: Promise<void>[] = [];
    for (const path of this.#sizes.keys()) {
      if (this.#bytes <= bytesMax) break;
      if (this.#held.has(path)) continue;
      this.#forget(path);
      gone.push(this.#leave(path));
    }
    return Promise.all(gone);
  }

  #leave(path: string): Promise<void> {
    const { disk, onFault, root } = this.#parts;
    const leaving = disk
      .remove(join(root, path))
      .catch(onFault)
      .finally(() => this.#leaving.delete(path));
    this.#leaving.set(path, leaving);
    return leaving;
  }
}
