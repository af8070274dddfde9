// Rows of PostgreSQL as JSON lines: every value as exact as the server wrote it.
import { createHash } from 'node:crypto';
import { escapeIdentifier } from 'pg';

export interface Column {
  readonly name: string;
  /** Number of its type, the same on every server. */
  readonly dataTypeID: number;
}

type Render = (text: string) => string;

const asNumber: Render = (text) => (/^-?(?:Infinity|NaN)$/.test(text) ? 'null' : text);
const asText: Render = (text) => JSON.stringify(text);
/** JSON may be written over several lines: between its tokens, a line's end is a space. */
const asJson: Render = (text) => text.replace(/[\r\n]/g, ' ');
const asTime = (zone: string): Render => {
  // A year before 1 or after 9999 stays as it is written; `infinity` is no time.
  const whole = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00)?$/;
  return (text) => {
    if (/^-?infinity$/.test(text)) return 'null';
    const [, date, time] = whole.exec(text) ?? [];
    return date === undefined ? asText(text) : `"${date}T${time}${zone}"`;
  };
};

/** By the type's number (src/include/catalog/pg_type.dat). */
const RENDERED: Readonly<Record<number, Render>> = {
  16: (text) => (text === 't' ? 'true' : 'false'),
  17: (text) => `"${Buffer.from(text.slice(2), 'hex').toString('base64')}"`,
  18: asText,
  19: asText,
  20: asNumber,
  21: asNumber,
  23: asNumber,
  25: asText,
  26: asNumber,
  114: asJson,
  700: asNumber,
  701: asNumber,
  // What pads a char(n) is not part of its value.
  1042: (text) => asText(withoutTail(text, ' ')),
  1043: asText,
  1082: (text) => (/^-?infinity$/.test(text) ? 'null' : asText(text)),
  1083: asText,
  1114: asTime(''),
  1184: asTime('Z'),
  1186: asText,
  1266: asText,
  1700: asNumber,
  2950: asText,
  3802: asJson,
};

/** Without any of `characters` at its end. An expression would begin again at each of them. */
export function withoutTail(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

export const quoted = (name: string): string => escapeIdentifier(name);

/** Of the relation `q`: arrays, records and all else as PostgreSQL itself writes them in JSON. */
export const columnList = (columns: readonly Column[]): string =>
  columns
    .map(({ dataTypeID, name }) => {
      const column = `q.${quoted(name)}`;
      return dataTypeID in RENDERED ? column : `to_json(${column})`;
    })
    .join(', ');

/** @param row texts of the columns, as `columnList` asked for them */
export function lineOf(columns: readonly Column[], row: readonly (string | null)[]): string {
  const members = columns.map(({ dataTypeID, name }, index) => {
    const text = row[index] ?? null;
    const render = RENDERED[dataTypeID] ?? asJson;
    return `${JSON.stringify(name)}:${text === null ? 'null' : render(text)}`;
  });
  return `{${members.join(',')}}`;
}

/** Tells two sets of rows apart, whatever their order. */
export interface RowDigest {
  add(line: string): void;
  text(): string;
}

/** A sum of hashes: 128 bits, and the count. */
export function rowDigest(): RowDigest {
  const sum = new Uint32Array(4);
  let rows = 0;
  return {
    add: (line) => {
      const hash = createHash('sha256').update(line).digest();
      for (const index of sum.keys()) sum[index] = (sum[index] ?? 0) + hash.readUInt32LE(index * 4);
      rows += 1;
    },
    text: () => `${rows}:${Buffer.from(sum.buffer).toString('hex')}`,
  };
}
