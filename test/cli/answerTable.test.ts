// A table on a terminal: texts are shortened as far as they stay readable. If that is not enough, each cell
// has its own line. Numbers are never cut.
import { expect, test } from 'vitest';
import { tableLines } from '../../cli/print/answerTable.ts';
import { widthOf } from '../../cli/print/terminalText.ts';

const COLUMNS = [
  { name: 'symbol', isNumber: false },
  { name: 'a_long_name_of_a_company', isNumber: false },
  { name: 'volume', isNumber: true },
];
const ROWS = [
  ['AAPL', '日本語の長い名前の会社 株式会社', '9007199254740993'],
  ['MSFT', null, '48'],
];

const lines = (columns: number, rows: readonly (readonly (string | null)[])[]): readonly string[] =>
  tableLines(COLUMNS, rows, { wide: false, columns, colours: false });

test('texts are cut where the terminal is narrower than they are', () => {
  expect(lines(50, ROWS)).toEqual([
    ' symbol │ a_long_name_of_a_co… │           volume',
    '────────┼──────────────────────┼──────────────────',
    ' AAPL   │ 日本語の長い名前の…  │ 9007199254740993',
    ' MSFT   │ NULL                 │               48',
  ]);
});

test('each cell has its own line where no row fits a line; a number stays whole', () => {
  expect(lines(30, ROWS)).toEqual([
    '─────────────────┼────────────',
    ' symbol          │ AAPL',
    ' a_long_name_of… │ 日本語の…',
    ' volume          │ 9007199254740993',
    '─────────────────┼────────────',
    ' symbol          │ MSFT',
    ' a_long_name_of… │ NULL',
    ' volume          │ 48',
  ]);
  expect(lines(30, [])).toEqual([
    '─────────────────┼────────────',
    ' symbol          │',
    ' a_long_name_of… │',
    ' volume          │',
  ]);
});

test('only the line of a long number is wider than the terminal', () => {
  for (let columns = 20; columns <= 80; columns += 1) {
    const wider = lines(columns, ROWS).filter((line) => widthOf(line) > columns);
    expect([columns, wider.filter((line) => !line.includes('9007199254740993'))]).toEqual([
      columns,
      [],
    ]);
  }
});
