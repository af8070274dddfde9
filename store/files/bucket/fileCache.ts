// A disk cache of the files of a bucket. Concurrent requests share one fetch; above a size limit the least
// recently used copies that are not open are evicted.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disk } from '../../base/disk.ts';
import { diskFull, isDiskFull } from '../../base/failure.ts';
import { fetchInto } from './fetchInto.ts';

interface CacheParts {
  /** Root of the copies: a file's path below it is its path in the lake. */
  readonly root: string;
  /** Folder of files that are being fetched, on the same disk. */
  readonly temporary: string;
  readonly disk: Disk;
  /** Limit of all copies; open ones may exceed it. */
  readonly bytesMax: number;
  /** Fetches a file of the lake; false if it does not exist. */
  readonly fetch: (path: string, target: string) => Promise<boolean>;
  /** Called when a copy could not be removed: it stays until a retry. */
  readonly onFault: (reason: unknown) => void;
}

/** Concurrent fetches; the store's client has sockets for all of their parts. */
export const FETCHES_MAX = 4;

export class FileCache {
  readonly #parts: CacheParts;
  /** Bytes by path, the least recently used copy first. */
  readonly #sizes = new Map<string, number>();
  readonly #pins = new Map<string, number>();
  readonly #fetching = new Map<string, Promise<void>>();
  /** Copies that are being removed. */
  readonly #removals = new Map<string, Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  #fetches = 0;
  #bytes = 0;
  #fetched = 0;

  private constructor(parts: CacheParts) {
    this.#parts = parts;
  }

  /** Opens the cache with the existing copies. */
  static async open(parts: CacheParts): Promise<FileCache> {
    const cache = new FileCache(parts);
    for (const path of await parts.disk.list(parts.root)) await cache.add(path);
    return cache;
  }

  get state(): { readonly files: number; readonly bytes: number; readonly fetched: number } {
    return { files: this.#sizes.size, bytes: this.#bytes, fetched: this.#fetched };
  }

  has(path: string): boolean {
    return this.#sizes.has(path);
  }

  /**
   * Fetches and pins copies of files, if the bucket has them, until the returned function is called.
   * @throws what `fetch` throws; Failure DiskFull
   */
  async pin(paths: readonly string[]): Promise<() => void> {
    for (const path of paths) this.#pins.set(path, (this.#pins.get(path) ?? 0) + 1);
    const release = this.#createRelease(paths);
    try {
      const missing = paths.filter((path) => !this.#touch(path));
      if (missing.length > 0) await Promise.all(missing.map((path) => this.#fetchOnce(path)));
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Registers a new copy. */
  async add(path: string): Promise<void> {
    const { size } = await stat(join(this.#parts.root, path));
    this.#forget(path);
    this.#sizes.set(path, size);
    this.#bytes += size;
    void this.#evict(this.#parts.bytesMax);
  }

  /** Forgets a copy whose file was removed. */
  forget(path: string): void {
    this.#forget(path);
  }

  /** Removes the copies of removed files, even while they are read. */
  remove(paths: readonly string[]): void {
    for (const path of paths) {
      void this.#fetching.get(path)?.then(
        () => this.remove([path]),
        () => undefined,
      );
      if (!this.#sizes.has(path)) continue;
      this.#forget(path);
      void this.#removeCopy(path);
    }
  }

  /** Removes all copies, when it is unknown which files were removed. */
  clear(): void {
    this.remove([...this.#sizes.keys(), ...this.#fetching.keys()]);
  }

  /** Fetches a damaged copy again. */
  async refetch(path: string): Promise<void> {
    this.#forget(path);
    await this.#fetchOnce(path);
  }

  #createRelease(paths: readonly string[]): () => void {
    let isPinned = true;
    return () => {
      if (!isPinned) return;
      isPinned = false;
      for (const path of paths) {
        const left = (this.#pins.get(path) ?? 1) - 1;
        if (left > 0) this.#pins.set(path, left);
        else this.#pins.delete(path);
      }
      void this.#evict(this.#parts.bytesMax);
    };
  }

  #touch(path: string): boolean {
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
    const running = this.#fetching.get(path);
    if (running !== undefined) return running;
    const fetching = this.#runLimited(() => this.#fetch(path)).finally(() =>
      this.#fetching.delete(path),
    );
    this.#fetching.set(path, fetching);
    return fetching;
  }

  async #runLimited(work: () => Promise<void>): Promise<void> {
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
    await this.#removals.get(path);
    try {
      await this.#copy(path);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      // Evicts copies to free space.
      await this.#evict(0);
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
    await this.add(path);
  }

  #evict(bytesMax: number): Promise<unknown> {
    const removals: Promise<void>[] = [];
    for (const path of this.#sizes.keys()) {
      if (this.#bytes <= bytesMax) break;
      if (this.#pins.has(path)) continue;
      this.#forget(path);
      removals.push(this.#removeCopy(path));
    }
    return Promise.all(removals);
  }

  #removeCopy(path: string): Promise<void> {
    const { disk, onFault, root } = this.#parts;
    const leaving = disk
      .remove(join(root, path))
      .catch(onFault)
      .finally(() => this.#removals.delete(path));
    this.#removals.set(path, leaving);
    return leaving;
  }
}
