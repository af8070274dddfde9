// Values of Thrift that are skipped: the next one is read from the right byte.
import { expect, test } from 'vitest';
import { Thrift, TYPE } from '../../../pipeline/decode/pages/thrift.ts';

/** A field, by its distance to the one before. */
const field = (distance: number, type: number, ...bytes: readonly number[]): readonly number[] => [
  distance * 16 + type,
  ...bytes,
];
const SEVEN = field(1, 5, 14);

test('a skipped value of each type ends before the next field', () => {
  const skipped: Readonly<Record<string, readonly number[]>> = {
    byte: field(1, TYPE.byte, 0xff),
    integer: field(1, 5, 0x96, 0x01),
    double: field(1, TYPE.double, 1, 2, 3, 4, 5, 6, 7, 8),
    binary: field(1, TYPE.binary, 3, 0xff, 0xff, 0xff),
    'long binary': field(1, TYPE.binary, 0x80, 0x01, ...Array.from({ length: 128 }, () => 0xff)),
    list: field(1, 9, 2 * 16 + TYPE.binary, 1, 0xff, 2, 0xff, 0xff),
    struct: field(1, TYPE.struct, ...field(1, TYPE.binary, 1, 0xff), 0),
    boolean: field(1, 1),
  };
  for (const [name, bytes] of Object.entries(skipped)) {
    const thrift = new Thrift(Buffer.from([...bytes, ...SEVEN, 0]));
    let value: number | undefined;
    thrift.fields((id) => {
      if (id === 2) value = thrift.integer();
      return id === 2;
    });
    expect([name, value, thrift.at]).toEqual([name, 7, bytes.length + 3]);
  }
});
