// Prints short answers: a table or a line each for a person, JSON lines for a program.
import { type Terminal, printTo } from '../connect/terminal.ts';
import { type Cell, tableLines } from './answerTable.ts';

interface JsonOption {
  readonly json?: boolean;
}

/** Prints one member of each item, or each item as a JSON line. */
export function listAnswer(
  items: readonly unknown[],
  member: string,
  { json }: JsonOption,
  terminal: Terminal,
): void {
  const print = printTo(terminal);
  for (const item of items) {
    const value = (item as Readonly<Record<string, unknown>>)[member];
    print(json === true ? JSON.stringify(item) : String(value));
  }
}

/** Prints members of each item as a table, or each item as a JSON line. */
export function tableAnswer(
  items: readonly object[],
  members: readonly string[],
  { json }: JsonOption,
  terminal: Terminal,
): void {
  const print = printTo(terminal);
  if (json === true) {
    for (const item of items) print(JSON.stringify(item));
    return;
  }
  if (items.length === 0) {
    print('none');
    return;
  }
  const columns = members.map((name) => ({
    name,
    isNumber: items.every((item) => typeof valueOf(item, name) === 'number'),
  }));
  const rows = items.map((item) => members.map((name) => cellOf(valueOf(item, name))));
  const { columns: width, isTTY = false } = terminal.stdout;
  const look = { wide: !isTTY, columns: isTTY ? width : undefined, colours: isTTY };
  print(tableLines(columns, rows, look).join('\n'));
}

const valueOf = (item: object, name: string): unknown =>
  (item as Readonly<Record<string, unknown>>)[name];

function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
