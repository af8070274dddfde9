// Writes small Parquet files of types that DuckDB does not write: each value is required, uncompressed and
// plain, in one page for each column, whose header has a checksum and statistics.
import { crc32 } from 'node:zlib';

/** A column with values, or a group of columns. */
export interface Field {
  readonly name: string;
  /** A number of Parquet's physical types; undefined for a group. */
  readonly physical?: Physical;
  /** Bytes of a FIXED value. */
  readonly length?: number;
  readonly converted?: number;
  readonly scale?: number;
  readonly precision?: number;
  /** The logical type, as the number of its kind and its members. */
  readonly logical?: readonly [number, readonly Member[]];
  readonly values?: readonly Buffer[];
  readonly children?: readonly Field[];
}

const PHYSICAL = { INT32: 1, INT64: 2, INT96: 3, DOUBLE: 5, BYTE_ARRAY: 6, FIXED: 7 } as const;
type Physical = keyof typeof PHYSICAL;

/** A member of a structure of Thrift: its number, its value. */
type Member = readonly [number, Value];
type Value =
  | { readonly i32: number }
  | { readonly i64: number }
  | { readonly text: string }
  | { readonly flag: boolean }
  | { readonly struct: readonly Member[] }
  | { readonly list: readonly Value[] };

const TYPE = { i32: 5, i64: 6, text: 8, list: 9, struct: 12 } as const;

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

const zigzag = (value: number): Buffer => varint(value < 0 ? -2 * value - 1 : 2 * value);

function typeOf(value: Value): number {
  if ('flag' in value) return value.flag ? 1 : 2;
  if ('i32' in value) return TYPE.i32;
  if ('i64' in value) return TYPE.i64;
  if ('text' in value) return TYPE.text;
  return 'list' in value ? TYPE.list : TYPE.struct;
}

function encode(value: Value): Buffer {
  if ('flag' in value) return Buffer.alloc(0);
  if ('i32' in value) return zigzag(value.i32);
  if ('i64' in value) return zigzag(value.i64);
  if ('text' in value) {
    const bytes = Buffer.from(value.text);
    return Buffer.concat([varint(bytes.length), bytes]);
  }
  if ('list' in value) {
    const type = value.list[0] === undefined ? TYPE.struct : typeOf(value.list[0]);
    const { length } = value.list;
    const head = length < 15 ? Buffer.from([length * 16 + type]) : Buffer.from([0xf0 + type]);
    const count = length < 15 ? Buffer.alloc(0) : varint(length);
    return Buffer.concat([head, count, ...value.list.map(encode)]);
  }
  let before = 0;
  const members = value.struct.map(([id, member]) => {
    const head = Buffer.from([(id - before) * 16 + typeOf(member)]);
    before = id;
    return Buffer.concat([head, encode(member)]);
  });
  return Buffer.concat([...members, Buffer.from([0])]);
}

const optional = (id: number, value: number | undefined): readonly Member[] =>
  value === undefined ? [] : [[id, { i32: value }]];

function elements(field: Field): readonly Value[] {
  const { children, converted, length, logical, name, physical, precision, scale } = field;
  const element: readonly Member[] = [
    ...optional(1, physical === undefined ? undefined : PHYSICAL[physical]),
    ...optional(2, length),
    [3, { i32: 0 }],
    [4, { text: name }],
    ...optional(5, children?.length),
    ...optional(6, converted),
    ...optional(7, scale),
    ...optional(8, precision),
    ...(logical === undefined
      ? []
      : ([[10, { struct: [[logical[0], { struct: logical[1] }]] }]] satisfies readonly Member[])),
  ];
  return [{ struct: element }, ...(children ?? []).flatMap(elements)];
}

const leaves = (field: Field, path: readonly string[]): readonly (readonly [string[], Field])[] =>
  field.children === undefined
    ? [[[...path, field.name], field]]
    : field.children.flatMap((child) => leaves(child, [...path, field.name]));

/** A file of these columns, which have one value a row. */
export function writeParquet(fields: readonly Field[]): Buffer {
  const pieces: Buffer[] = [Buffer.from('PAR1')];
  let at = 4;
  let rows = 0;
  const chunks = fields
    .flatMap((field) => leaves(field, []))
    .map(([path, { physical = 'INT32', values = [] }]): Value => {
      rows = values.length;
      const page = Buffer.concat(
        values.map((value) => {
          if (physical !== 'BYTE_ARRAY') return value;
          const size = Buffer.alloc(4);
          size.writeUInt32LE(value.length);
          return Buffer.concat([size, value]);
        }),
      );
      const header = encode({
        struct: [
          [1, { i32: 0 }],
          [2, { i32: page.length }],
          [3, { i32: page.length }],
          [4, { i32: crc32(page) | 0 }],
          [
            5,
            {
              struct: [
                [1, { i32: rows }],
                [2, { i32: 0 }],
                [3, { i32: 3 }],
                [4, { i32: 3 }],
                [
                  5,
                  {
                    struct: [
                      [5, { text: 'greatest' }],
                      [6, { text: 'least' }],
                    ],
                  },
                ],
              ],
            },
          ],
        ],
      });
      const from = at;
      pieces.push(header, page);
      at += header.length + page.length;
      const metadata: readonly Member[] = [
        [1, { i32: PHYSICAL[physical] }],
        [2, { list: [{ i32: 0 }] }],
        [3, { list: path.map((text) => ({ text })) }],
        [4, { i32: 0 }],
        [5, { i64: rows }],
        [6, { i64: at - from }],
        [7, { i64: at - from }],
        [9, { i64: from }],
      ];
      return {
        struct: [
          [2, { i64: from }],
          [3, { struct: metadata }],
        ],
      };
    });
  const root = elements({ name: 'schema', children: fields });
  const footer = encode({
    struct: [
      [1, { i32: 1 }],
      [2, { list: root }],
      [3, { i64: rows }],
      [
        4,
        {
          list: [
            {
              struct: [
                [1, { list: chunks }],
                [2, { i64: at }],
                [3, { i64: rows }],
              ],
            },
          ],
        },
      ],
    ],
  });
  const size = Buffer.alloc(4);
  size.writeUInt32LE(footer.length);
  return Buffer.concat([...pieces, footer, size, Buffer.from('PAR1')]);
}

const flags = (isUtc: boolean, unit: number): readonly Member[] => [
  [1, { flag: isUtc }],
  [2, { struct: [[unit, { struct: [] }]] }],
];

const int64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes;
};

/** Nanoseconds since 1970, in UTC or without a zone. */
export const nanosecondColumn = (name: string, values: readonly bigint[], isUtc = true): Field => ({
  name,
  physical: 'INT64',
  logical: [8, flags(isUtc, 3)],
  values: values.map(int64),
});

/** Nanoseconds of a day. */
export const clockColumn = (name: string, values: readonly bigint[], isUtc = false): Field => ({
  name,
  physical: 'INT64',
  logical: [7, flags(isUtc, 3)],
  values: values.map(int64),
});

export const textColumn = (name: string, values: readonly string[]): Field => ({
  name,
  physical: 'BYTE_ARRAY',
  converted: 0,
  logical: [1, []],
  values: values.map((value) => Buffer.from(value)),
});

/** Days since 1970, as Parquet and Arrow store them. */
export const dayColumn = (name: string, values: readonly number[]): Field => ({
  name,
  physical: 'INT32',
  converted: 6,
  values: values.map((value) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value);
    return bytes;
  }),
});

/** Integers of 256 bits with a point before their last `scale` digits. */
export const decimalColumn = (
  name: string,
  precision: number,
  scale: number,
  values: readonly bigint[],
): Field => ({
  name,
  physical: 'FIXED',
  length: 32,
  converted: 5,
  scale,
  precision,
  logical: [
    5,
    [
      [1, { i32: scale }],
      [2, { i32: precision }],
    ],
  ],
  values: values.map((value) => {
    const digits = BigInt.asUintN(256, value).toString(16).padStart(64, '0');
    return Buffer.from(digits, 'hex');
  }),
});

/** Instants as Julian days with nanoseconds of the day, as Impala and Spark write them. */
export const int96Column = (
  name: string,
  values: readonly (readonly [number, bigint])[],
): Field => ({
  name,
  physical: 'INT96',
  values: values.map(([days, nanoseconds]) => {
    const bytes = Buffer.alloc(12);
    bytes.writeBigInt64LE(nanoseconds);
    bytes.writeInt32LE(days + 2_440_588, 8);
    return bytes;
  }),
});
