// Hints that loads print: the file, the sentence as it is printed, and the records after it is followed.
import { Table, tableToIPC, vectorFromArray, Binary, Int32 } from 'apache-arrow';

type Query = Readonly<Record<string, string>>;

export interface PrintedHint {
  readonly name: string;
  /** Loaded before, in this order. */
  readonly before?: readonly string[];
  readonly body: string | Uint8Array;
  readonly query?: Query;
  /** The same as `query`, for a command. */
  readonly options?: readonly string[];
  /** A part of the refusal, or of a note. */
  readonly printed: string;
  /** The records as CSV, for each hint of the sentence, in any order. */
  readonly stored: readonly (readonly string[])[];
}

const AMBIGUOUS = 'symbol,date,v\nA,01/02/2024,1\n';
const GREEK = 'Αθήνα';
const LATIN = Buffer.from('a,b\nç,1\n', 'latin1');
const DAYS = 'symbol,date,v\nA,2024-01-01,1\nB,2024-01-01,2\n';
const bytesColumn = tableToIPC(
  new Table({
    k: vectorFromArray([1], new Int32()),
    b: vectorFromArray([Buffer.from('abc')], new Binary()),
  }),
);
const YFINANCE = (ticker: string, value: string): string =>
  `Price,Close,Open\n${ticker},${value},${value}\nDate,,\n2024-01-02,1.5,2.5\n2024-01-03,3.5,4.5\n`;
const SECTIONS = 'id,a,b\n1,2,3\n2,3,4\nday,x\n2024-01-02,5\n2024-01-03,6\n';

const TEXTS: readonly PrintedHint[] = [
  {
    name: 'titles and totals',
    body: 'Title\n\nsymbol,v\nA,1\nB,2\nTotal,3\n',
    printed: 'pass skipLines=2&skipLast=1 (--skip-lines 2 --skip-last 1)',
    stored: [['symbol,v', 'A,1', 'B,2']],
  },
  {
    name: 'no header',
    body: 'A,1.5\nB,2.5\n',
    printed: 'pass header=false (--no-header), or header=true (--header-lines 1) if it is one',
    stored: [
      ['column1,column2', 'A,1.5', 'B,2.5'],
      ['A,1.5', 'B,2.5'],
    ],
  },
  {
    name: 'a total that is a record',
    body: 'symbol,v\nA,1\nB,2\nTotal,3\n',
    printed: 'pass skipLast=1 (--skip-last 1), or skipLast=0 (--skip-last 0) if it is one',
    stored: [
      ['symbol,v', 'A,1', 'B,2'],
      ['symbol,v', 'A,1', 'B,2', 'Total,3'],
    ],
  },
  {
    name: 'quotes of another sign',
    body: "a,b\n1,'x'\n2,'y, z'\n",
    printed: 'pass quote=single (--quote single), or quote=double (--quote double) if they are not',
    stored: [
      ['a,b', '1,x', '2,"y, z"'],
      ['a,b', "1,'x'"],
    ],
  },
  {
    name: 'another table in the file',
    body: SECTIONS,
    printed: 'to load it, pass skipLines=3 (--skip-lines 3)',
    stored: [['day,x', '2024-01-02,5', '2024-01-03,6']],
  },
  {
    name: 'a value of a header line',
    body: YFINANCE('Ticker', 'MSFT'),
    query: { header: '3' },
    options: ['--header-lines', '3'],
    printed: 'to store it, pass constants={"Ticker":"MSFT"} (--set Ticker=MSFT)',
    stored: [['Date,Close,Open,Ticker', '2024-01-02,1.5,2.5,MSFT', '2024-01-03,3.5,4.5,MSFT']],
  },
  {
    name: 'a value that a shell would take apart',
    body: YFINANCE('Ticker Name', "O'X $1"),
    query: { header: '3' },
    options: ['--header-lines', '3'],
    printed: `pass constants={"Ticker Name":"O'X $1"} (--set 'Ticker Name=O'\\''X $1')`,
    stored: [
      ['Date,Close,Open,Ticker Name', "2024-01-02,1.5,2.5,O'X $1", "2024-01-03,3.5,4.5,O'X $1"],
    ],
  },
  {
    name: 'the day or the month first',
    body: AMBIGUOUS,
    printed: "column 'date' needs dateOrder=MDY or DMY (--date-order)",
    stored: [
      ['symbol,date,v', 'A,2024-01-02,1'],
      ['symbol,date,v', 'A,2024-02-01,1'],
    ],
  },
  {
    name: 'a format without a year',
    body: 'when,v\n2024-01-02,1\n',
    query: { dateFormat: '%d/%m' },
    options: ['--date-format', '%d/%m'],
    printed: 'must have a year and a month, such as dateFormat=%Y-%m-%d (--date-format %Y-%m-%d)',
    stored: [['when,v', '2024-01-02,1']],
  },
  {
    name: 'an unknown encoding',
    body: Buffer.concat([Buffer.from('a,b\né,1\n'), LATIN.subarray(4)]),
    printed: 'pass encoding=windows-1252 (--encoding windows-1252) or another',
    stored: [['a,b', 'Ã©,1', 'ç,1']],
  },
  {
    name: 'UTF-16 without a mark',
    body: Buffer.from(`${GREEK},${GREEK}2\nα,β\nγ,δ\n`, 'utf16le'),
    printed: 'pass encoding=utf-16le (--encoding utf-16le) if it is UTF-16',
    stored: [[`${GREEK},${GREEK}2`, 'α,β', 'γ,δ']],
  },
];

const DOCUMENTS: readonly PrintedHint[] = [
  {
    name: 'a list inside a document',
    body: '{"it\'s (so)":{"a b":[{"v":1},{"v":2}]}}',
    printed:
      `pass jsonPath=$["it's (so)"]["a b"][*] (--json-path '$["it'\\''s (so)"]["a b"][*]'), ` +
      'or as=json (--as json) if it is one record',
    stored: [
      ['v', '1', '2'],
      ["it's (so)", '"{""a b"":[{""v"":1},{""v"":2}]}"'],
    ],
  },
  {
    name: 'a name on the way that records have',
    body: '{"p":{"A":[{"s":"x","v":1}],"B":[{"s":"y","v":2}]}}',
    query: { jsonPath: '$.p.{s}[*]' },
    options: ['--json-path', '$.p.{s}[*]'],
    printed:
      "records have a member s already; pass jsonPath=$.p.{s_}[*] (--json-path '$.p.{s_}[*]')",
    stored: [['s_,s,v', 'A,x,1', 'B,y,2']],
  },
  {
    name: 'lists without names',
    body: '[[1478131200000,950.5],[1478736000000,240.03]]',
    printed: 'columns={"column1":"date"} (--map column1=date) names them',
    stored: [['date,column2', '2016-11-03T00:00:00.000Z,950.5', '2016-11-10T00:00:00.000Z,240.03']],
  },
  {
    name: 'lists whose first one may be a header',
    body: '[["t","v"],["a",1],["b",2]]',
    printed: 'if it is a record, pass header=false (--no-header)',
    stored: [['column1,column2', 't,v', 'a,1', 'b,2']],
  },
  {
    name: 'lists without the header that was passed',
    body: '[[1,2],[3,4]]',
    query: { header: 'true' },
    options: ['--header-lines', '1'],
    printed: 'the first list is no header: pass header=false (--no-header)',
    stored: [['column1,column2', '1,2', '3,4']],
  },
  {
    name: 'columns of bytes',
    body: bytesColumn,
    printed: 'pass binary=text (--binary text) for UTF-8, or binary=hex (--binary hex)',
    stored: [
      ['k,b', '1,abc'],
      ['k,b', '1,616263'],
    ],
  },
];

const STORED: readonly PrintedHint[] = [
  {
    name: 'a property that is given twice',
    body: 'a,b\n1,2\n',
    query: { constants: '{"a":"x"}' },
    options: ['--set', 'a=x'],
    printed: 'to leave column a out, pass columns={"a":null} (--map a=)',
    stored: [['b,a', '2,x']],
  },
  {
    name: 'two columns of one property',
    body: 'a,x y\n1,2\n',
    query: { columns: '{"a":"x y"}' },
    options: ['--map', 'a=x y'],
    printed: `to leave column x y out, pass columns={"a":"x y","x y":null} (--map 'x y=')`,
    stored: [['x y', '1']],
  },
  {
    name: 'the same bytes',
    before: [DAYS],
    body: DAYS,
    printed: 'duplicates=keep-all (--duplicates keep-all) stores them again',
    stored: [
      ['symbol,date,v', 'A,2024-01-01,1', 'A,2024-01-01,1', 'B,2024-01-01,2', 'B,2024-01-01,2'],
    ],
  },
  {
    name: 'records that are stored',
    before: [DAYS],
    body: `${DAYS}C,2024-01-01,3\n`,
    printed: 'duplicates=skip-identical (--duplicates skip-identical) leaves such records out',
    stored: [['symbol,date,v', 'A,2024-01-01,1', 'B,2024-01-01,2', 'C,2024-01-01,3']],
  },
  {
    name: 'repeats of a declared index',
    body: 'symbol,v\nA,1\nA,2\n',
    query: { key: 'symbol', duplicateKeyHandling: 'refuse' },
    options: ['--key', 'symbol'],
    printed:
      'keep all with uniqueIndex=false (--no-index), or choose which one stays: duplicates=keep-first ' +
      '(--duplicates keep-first) or duplicates=replace (--duplicates replace)',
    stored: [
      ['symbol,v', 'A,1', 'A,2'],
      ['symbol,v', 'A,1'],
      ['symbol,v', 'A,2'],
    ],
  },
];

export const PRINTED_HINTS: readonly PrintedHint[] = [...TEXTS, ...DOCUMENTS, ...STORED];
