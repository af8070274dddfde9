// Answers that are few: a table or a line each for a person, JSON lines for a program.
import { type Cell, tableLines } from './answerTable.ts';

interface JsonOption {
  readonly json?: boolean;
}

/** One member of each, or each whole as a JSON line. */
export function listAnswer(items: readonly unknown[], member: string, { json }: JsonOption): void {
  for (const item of items) {
    const value = (item as Readonly<Record<string, unknown>>)[member];
    process.stdout.write(json === true ? `${JSON.stringify(item)}\n` : `${String(value)}\n`);
  }
}

/** The members of each as a table, or each whole as a JSON line. */
export function tableAnswer(
  items: readonly object[],
  members: readonly string[],
  { json }: JsonOption,
): void {
  if (json === true) {
    for (const item of items) process.stdout.write(`${JSON.stringify(item)}\n`);
    return;
  }
  if (items.length === 0) {
    process.stdout.write('none\n');
    return;
  }
  const columns = members.map((name) => ({
    name,
    isNumber: items.every((item) => typeof valueOf(item, name) === 'number'),
  }));
  const rows = items.map((item) => members.map((name) => cellOf(valueOf(item, name))));
  const { columns: width, isTTY } = process.stdout;
  const look = { wide: !isTTY, columns: isTTY ? width : undefined, colours: isTTY };
  process.stdout.write(`${tableLines(columns, rows, look).join('\n')}\n`);
}

const valueOf = (item: object, name: string): unknown =>
  (item as Readonly<Record<string, unknown>>)[name];

function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
