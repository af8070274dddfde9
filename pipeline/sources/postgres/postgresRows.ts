// Renders rows of PostgreSQL as JSON lines: every value exactly as the server wrote it.
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
/** JSON may be written over several lines: line ends between its tokens become spaces. */
const asJson: Render = (text) => text.replace(/[\r\n]/g, ' ');
const asTime = (zone: string): Render => {
  // A year before 1 or after 9999 stays unchanged; `infinity` is not a time.
  const whole = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00)?$/;
  return (text) => {
    if (/^-?infinity$/.test(text)) return 'null';
    const [, date, time] = whole.exec(text) ?? [];
    return date === undefined ? asText(text) : `"${date}T${time}${zone}"`;
  };
};

/** Renderers by the number of the type (src/include/catalog/pg_type.dat). */
const RENDERERS: Readonly<Record<number, Render>> = {
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
  // The padding of a char(n) is not part of its value.
  1042: (text) => asText(stripEnd(text, ' ')),
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

/** Strips `characters` from the end. A regular expression would restart at each of them. */
export function stripEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

export const quoteIdentifier = (name: string): string => escapeIdentifier(name);

/** Columns of the relation `q`: arrays, records and other types as PostgreSQL writes them in JSON. */
export const columnList = (columns: readonly Column[]): string =>
  columns
    .map(({ dataTypeID, name }) => {
      const column = `q.${quoteIdentifier(name)}`;
      return dataTypeID in RENDERERS ? column : `to_json(${column})`;
    })
    .join(', ');

/** @param row texts of the columns, as selected by `columnList` */
export function renderRow(columns: readonly Column[], row: readonly (string | null)[]): string {
  const members = columns.map(({ dataTypeID, name }, index) => {
    const text = row[index] ?? null;
    const render = RENDERERS[dataTypeID] ?? asJson;
    return `${JSON.stringify(name)}:${text === null ? 'null' : render(text)}`;
  });
  return `{${members.join(',')}}`;
}

/** Distinguishes two sets of rows, regardless of their order. */
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
