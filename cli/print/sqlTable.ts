// Formats answers of the SQL endpoint as tables: rows, columns, and the explanation of a query.
import type { Readable } from 'node:stream';
import { pluralize } from './answerOutput.ts';
import { type Cell, type TableColumn, tableLines, type TableLook } from './answerTable.ts';
import { memberTexts } from './jsonMembers.ts';

export interface SqlColumn {
  readonly name: string;
  /** DuckDB's name of the type. */
  readonly type: string;
}

/** Rows that are printed; further rows are only counted. */
const ROWS_DRAWN_MAX = 1_000;
const NEWLINE = 10;
const NUMBERS = /^(?:U?(?:TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DOUBLE|FLOAT|DECIMAL\(\d+,\d+\))$/;
const NO_LOOK: TableLook = { wide: true, columns: undefined, colours: false };

/** @param body JSON lines of the columns */
export async function formatRows(
  body: Readable,
  columns: readonly SqlColumn[],
  look: TableLook,
): Promise<{ readonly lines: readonly string[]; readonly rows: number }> {
  const { first, rows } = await readRows(body);
  const isText = columns.map(({ type }) => type !== 'JSON');
  const cells = first.map((line) =>
    memberTexts(line).map((json, at) => cellOf(json, isText[at] === true)),
  );
  const tableColumns = columns.map(({ name, type }): TableColumn => ({
    name,
    isNumber: NUMBERS.test(type),
  }));
  const lines = tableLines(tableColumns, cells, look);
  const left = rows - first.length;
  if (left === 0) return { lines, rows };
  const more = `… ${left.toLocaleString('en-US')} more: --format csv has all of them`;
  return { lines: [...lines, more], rows };
}

/** @param isText false if the value is JSON, which is shown unchanged */
function cellOf(json: string, isText: boolean): Cell {
  if (json === 'null') return null;
  return isText && json.startsWith('"') ? String(JSON.parse(json)) : json;
}

/** Returns the texts of the first rows, and the number of all rows. */
async function readRows(
  body: Readable,
): Promise<{ readonly first: readonly string[]; readonly rows: number }> {
  const first: string[] = [];
  let rows = 0;
  let begun: Buffer[] = [];
  for await (const piece of body as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, from)) {
      rows += 1;
      if (rows <= ROWS_DRAWN_MAX) {
        first.push(Buffer.concat([...begun, piece.subarray(from, end)]).toString());
      }
      begun = [];
      from = end + 1;
    }
    if (rows < ROWS_DRAWN_MAX) begun.push(piece.subarray(from));
  }
  return { first, rows };
}

const column = (name: string, isNumber = false): TableColumn => ({ name, isNumber });

/** @param json the answer to `schema=true` */
export const formatColumns = (json: string): readonly string[] =>
  tableLines(
    [column('column'), column('type')],
    (JSON.parse(json) as readonly SqlColumn[]).map(({ name, type }) => [name, type]),
    NO_LOOK,
  );

interface Explained {
  readonly steps: readonly string[];
  readonly tables: readonly Readonly<Record<string, string | number>>[];
  readonly estimate: {
    readonly rows: number;
    readonly bytes: number;
    readonly weight: number;
    readonly messages: number;
  };
}

/** @param json the answer to `explain=true` */
export function formatExplanation(json: string): readonly string[] {
  const { estimate, steps, tables } = JSON.parse(json) as Explained;
  const { rows, bytes, weight, messages } = estimate;
  const most = [
    pluralize(rows, 'row'),
    pluralize(bytes, 'byte'),
    pluralize(messages, 'message'),
  ].join(', ');
  return [...steps, ...tablesOf(tables), `at most ${most} of weight ${weight}`];
}

function tablesOf(tables: Explained['tables']): readonly string[] {
  const [first] = tables;
  if (first === undefined) return [];
  const columns = Object.entries(first).map(([name, value]) =>
    column(name, typeof value === 'number'),
  );
  const rows = tables.map((table) => columns.map(({ name }) => String(table[name] ?? '')));
  return ['', ...tableLines(columns, rows, NO_LOOK), ''];
}
