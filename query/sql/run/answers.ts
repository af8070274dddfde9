// Answers that are asked for again: their bytes, under a name that says who asked for what, and of which
// versions. Bounded by bytes; the one that was not asked for the longest goes first.
import type { Body } from '../../../store/duckdb/protocol.ts';

/** Of one answer: screens ask for short ones again and again, and long ones are worth a read. */
const BODY_BYTES_MAX = 64 * 1024;
/** What an entry takes beside its body and its name. */
const ENTRY_BYTES = 400;

interface Entry {
  readonly body: Body;
  readonly tableIds: readonly number[];
  readonly bytes: number;
}

export class SqlAnswers {
  readonly #bytesMax: number;
  /** The one that was asked for last is the last. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  #changes = 0;

  /** @param bytesMax of all; 0 keeps none */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The answer from memory, or what `read` answers.
   * @param tableIds of the datasets that it is made of
   */
  async find(name: string, tableIds: readonly number[], read: () => Promise<Body>): Promise<Body> {
    const known = this.#entries.get(name);
    if (known !== undefined) {
      this.#entries.delete(name);
      this.#entries.set(name, known);
      return known.body;
    }
    const before = this.#changes;
    const body = await read();
    const isShort = body.file === undefined && body.bytes.length <= BODY_BYTES_MAX;
    if (isShort && before === this.#changes) this.#keep(name, tableIds, body);
    return body;
  }

  /** Answers of older versions go at once: what was purged is not kept. */
  changed(tableIds: Iterable<number>): void {
    this.#changes += 1;
    const changed = new Set(tableIds);
    for (const [name, entry] of this.#entries) {
      if (entry.tableIds.some((tableId) => changed.has(tableId))) this.#drop(name);
    }
  }

  #keep(name: string, tableIds: readonly number[], { bytes: all, objects }: Body): void {
    this.#drop(name);
    // What is kept keeps nothing else: the bytes may be a part of a larger piece of memory.
    const body = { objects, bytes: Uint8Array.from(all) };
    const bytes = all.length + 2 * name.length + ENTRY_BYTES;
    this.#entries.set(name, { body, tableIds, bytes });
    this.#bytes += bytes;
    for (const [oldest] of this.#entries) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    this.#bytes -= this.#entries.get(name)?.bytes ?? 0;
    this.#entries.delete(name);
  }
}
