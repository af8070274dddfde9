// Reads Thrift's compact protocol, in which Parquet has its metadata.

const DEPTH_MAX = 16;

/** Types of the compact protocol. */
export const TYPE = {
  byte: 3,
  integers: [4, 5, 6],
  double: 7,
  binary: 8,
  lists: [9, 10],
  struct: 12,
};

/** Reads values in sequence; what is not taken is skipped. */
export class Thrift {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get at(): number {
    return this.#at;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Error('the header is cut short');
    this.#at += 1;
    return byte;
  }

  unsigned(): number {
    let value = 0;
    for (let factor = 1; factor < 2 ** 53; factor *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw new Error('a number is too long');
  }

  integer(): number {
    const value = this.unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** @param take reads the value of a field and returns true; or returns false to skip it, or `end` */
  fields(take: (id: number, type: number) => boolean | 'end', depth = 0): void {
    if (depth > DEPTH_MAX) throw new Error('the header is too deep');
    for (let id = 0; ;) {
      const head = this.#byte();
      if (head === 0) return;
      id = head >> 4 === 0 ? this.integer() : id + (head >> 4);
      const type = head & 0x0f;
      const outcome = take(id, type);
      if (outcome === 'end') return;
      if (!outcome) this.#skip(type, depth);
    }
  }

  #skip(type: number, depth: number): void {
    if (type === TYPE.byte) this.#byte();
    else if (TYPE.integers.includes(type)) this.unsigned();
    else if (type === TYPE.double) this.#at += 8;
    else if (type === TYPE.binary) this.#skipBytes();
    else if (type === TYPE.struct) this.fields(() => false, depth + 1);
    else if (TYPE.lists.includes(type)) this.#skipList(depth);
    // The value of a boolean is part of its type.
    else if (type > 2) throw new Error('the header has an unknown type');
  }

  /** Returns the length. */
  #skipBytes(): number {
    // First: it moves the position.
    const length = this.unsigned();
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new Error('a name ends behind the header');
    return length;
  }

  text(): string {
    const length = this.#skipBytes();
    return this.#bytes.toString('utf8', this.#at - length, this.#at);
  }

  /** The number of elements of a list that follow, and their type. */
  list(): { readonly count: number; readonly type: number } {
    const head = this.#byte();
    const count = head >> 4 === 15 ? this.unsigned() : head >> 4;
    if (count > this.#bytes.length) throw new Error('a list is too long');
    return { count, type: head & 0x0f };
  }

  #skipList(depth: number): void {
    if (depth > DEPTH_MAX) throw new Error('a list is too deep');
    const { count, type } = this.list();
    for (let at = 0; at < count; at += 1) {
      if (type <= 2) this.#byte();
      else this.#skip(type, depth + 1);
    }
  }
}
