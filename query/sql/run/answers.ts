// Caches the bytes of answers by caller, query and versions. Bounded by bytes; evicts the least recently used
// answer first.
import type { Body } from '../../../store/duckdb/protocol.ts';

/** Size of one cached answer: screens request short ones repeatedly, and long ones are worth a read. */
const BODY_BYTES_MAX = 64 * 1024;
/** Overhead of an entry beside its body and its name. */
const ENTRY_BYTES = 400;

interface Entry {
  readonly body: Body;
  readonly tableIds: readonly number[];
  readonly bytes: number;
}

export class SqlAnswers {
  readonly #bytesMax: number;
  /** The most recently used entry is the last. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  #changes = 0;

  /** @param bytesMax bytes of all answers; 0 disables the cache */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Returns the answer from memory, or else the result of `read`.
   * @param tableIds the datasets that it is computed from
   */
  async find(name: string, tableIds: readonly number[], read: () => Promise<Body>): Promise<Body> {
    const cached = this.#entries.get(name);
    if (cached !== undefined) {
      this.#entries.delete(name);
      this.#entries.set(name, cached);
      return cached.body;
    }
    const before = this.#changes;
    const body = await read();
    const isShort = body.file === undefined && body.bytes.length <= BODY_BYTES_MAX;
    if (isShort && before === this.#changes) this.#insert(name, tableIds, body);
    return body;
  }

  /** Evicts answers of older versions immediately: purged data must not remain. */
  evictTables(tableIds: Iterable<number>): void {
    this.#changes += 1;
    const changed = new Set(tableIds);
    for (const [name, entry] of this.#entries) {
      if (entry.tableIds.some((tableId) => changed.has(tableId))) this.#evict(name);
    }
  }

  #insert(name: string, tableIds: readonly number[], { bytes: all, objects }: Body): void {
    this.#evict(name);
    // Copy the bytes: they may be a slice that would keep a larger buffer alive.
    const body = { objects, bytes: Uint8Array.from(all) };
    const bytes = all.length + 2 * name.length + ENTRY_BYTES;
    this.#entries.set(name, { body, tableIds, bytes });
    this.#bytes += bytes;
    for (const [oldest] of this.#entries) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#evict(oldest);
    }
  }

  #evict(name: string): void {
    this.#bytes -= this.#entries.get(name)?.bytes ?? 0;
    this.#entries.delete(name);
  }
}
