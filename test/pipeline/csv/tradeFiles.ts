// Files as vendors write them, and the expected result of each: written before any of them was loaded.

/** The stored records of a file. */
export interface Stored {
  /** Names of the properties, and the records as CSV, in any order. */
  readonly rows: readonly string[];
  /** `3: reason`, without its first words. */
  readonly rejects?: readonly string[];
}

export interface TradeFile extends Partial<Stored> {
  readonly file: string;
  readonly query?: Readonly<Record<string, string>>;
  /** A part of the message that refuses the file, and the result of each of its hints. */
  readonly refused?: RegExp;
  readonly hints?: readonly (Stored & { readonly hint: string })[];
  readonly notes?: readonly RegExp[];
}

const PRICES = ['symbol,date,close', 'A,2024-01-02,1.5', 'B,2024-01-03,2.5'] as const;

const AROUND: readonly TradeFile[] = [
  {
    file: 'worldbank.csv',
    refused: /7 columns begin in line 5; pass skipLines=4 \(--skip-lines 4\)/,
    hints: [
      {
        hint: 'skipLines=4',
        rows: [
          // A schema is a JSON object, and JavaScript objects list names of digits first.
          '1960,1961,2022,Country Name,Country Code,Indicator Name,Indicator Code',
          ',405586592.178771,3544707788.05664,Aruba,ABW,GDP (current US$),NY.GDP',
          '313582727.6,333975335.9,12704145496,Chad,TCD,GDP (current US$),NY.GDP',
        ],
      },
    ],
  },
  {
    file: 'bundesbank.csv',
    refused: /lines 2 to 5 .* parts of the header; pass header=5/,
    hints: [
      {
        hint: 'header=5',
        rows: [
          'column1,BBEX3.D.USD.EUR.BB.AC.000,BBEX3.D.USD.EUR.BB.AC.000_FLAGS',
          '1999-01-01,,Kein Wert vorhanden',
          '1999-01-04,1.1789,""',
          '1999-01-05,1.179,""',
          '1999-01-06,1.1743,""',
        ],
      },
    ],
  },
  {
    file: 'fama-french.csv',
    refused: /5 columns begin in line 4.*a second table begins in line 9; pass /,
    hints: [
      {
        hint: 'skipLines=3&skipLast=7',
        rows: [
          'column1,Mkt-RF,SMB,HML,RF',
          '192607,2.96,-2.56,-2.43,0.22',
          '192608,2.64,-1.17,3.82,0.25',
        ],
      },
      {
        hint: 'skipLines=8&skipLast=1',
        rows: [
          'column1,Mkt-RF,SMB,HML,RF',
          '1927,29.47,-2.04,-4.54,3.12',
          '1928,35.39,4.51,-6.17,3.56',
        ],
      },
    ],
  },
  {
    file: 'second-table.csv',
    refused: /a second table begins in line 5/,
    hints: [
      { hint: 'skipLast=4', rows: ['date,close', '2024-01-02,1.5', '2024-01-03,2.5'] },
      { hint: 'skipLines=4', rows: ['symbol,weight', 'A,0.5', 'B,0.25'] },
    ],
  },
  {
    file: 'two-sections.csv',
    rows: [
      'ClientAccountID,CurrencyPrimary,Symbol,TradeDate,Quantity,TradePrice,IBCommission',
      'U0000001,USD,AAPL,20240116,100,182.16,-1',
      'U0000001,USD,MSFT,20240117,1200,389.47,-2.5',
    ],
    rejects: [4, 5, 6].map((line) => `${line}: Expected Number of Columns: 7 Found: 6`),
    notes: [/another table of 6 columns begins in line 4: to load it, pass skipLines=3/],
  },
  {
    file: 'two-sections.csv',
    query: { skipLines: '3' },
    rows: [
      'ClientAccountID,CurrencyPrimary,Symbol,ReportDate,Amount,Type',
      'U0000001,USD,AAPL,20240215,24,Dividends',
      'U0000001,USD,AAPL,20240215,-3.6,Withholding Tax',
    ],
  },
  {
    file: 'first-line-blank.csv',
    refused: /11 columns begin in line 4; pass skipLines=3/,
  },
  {
    file: 'preamble.csv',
    refused: /3 columns begin in line 3; pass skipLines=2/,
    hints: [{ hint: 'skipLines=2', rows: ['a,b,c', '1,2,3', '4,5,6'] }],
  },
  {
    file: 'title-with-commas.csv',
    refused: /3 columns begin in line 2; pass skipLines=1/,
    hints: [{ hint: 'skipLines=1', rows: PRICES }],
  },
  {
    file: 'blank-above-footer.csv',
    query: { skipLast: '2' },
    rows: ['date,close', '2024-01-02,1', '2024-01-03,2', '2024-01-04,3'],
  },
  {
    file: 'blank-above-footer.csv',
    refused: /\("Source: Example"\) is no record; pass skipLast=1/,
    hints: [
      {
        hint: 'skipLast=1',
        rows: ['date,close', '2024-01-02,1', '2024-01-03,2', '2024-01-04,3'],
      },
      {
        hint: 'skipLast=0',
        rows: ['date,close', '2024-01-02,1', '2024-01-03,2', '2024-01-04,3'],
        rejects: ['6: Expected Number of Columns: 2 Found: 1'],
      },
    ],
  },
  {
    file: 'blanks-at-end.csv',
    refused: /pass skipLast=3/,
    hints: [{ hint: 'skipLast=3', rows: ['date,close', '2024-01-02,1', '2024-01-03,2'] }],
  },
  {
    file: 'comment-lines.csv',
    rows: ['symbol,date,close', 'A,2024-01-02,1.5', 'A,2024-01-03,2.5'],
    notes: [/lines 1, 2 are comments/, /line 5 is a comment/],
  },
  { file: 'comment-slashes.csv', rows: PRICES, notes: [/lines 1, 2 are comments/, /line 5 is/] },
  { file: 'comment-percent.csv', rows: PRICES, notes: [/line 1 is a comment/, /line 4 is/] },
  {
    file: 'eurostat.tsv',
    rows: ['2020,2021,"freq,unit,geo\\TIME_PERIOD"', '1.5,2.5,"A,EUR,DE"', '3.5,4.5,"A,EUR,FR"'],
    notes: [/blanks around cells/],
  },
  {
    file: 'repeated-header.csv',
    rows: [
      'symbol,date,close',
      'A,2024-01-02,1.5',
      'A,2024-01-03,2.5',
      'B,2024-01-02,3.5',
      'B,2024-01-03,4.5',
    ],
    notes: [/line 4 repeats the header/],
  },
  {
    file: 'three-header-lines.csv',
    rows: ['a,b', '1,2', '3,4'],
    notes: [/lines 2, 3 repeat the header/],
  },
  {
    file: 'header-one-too-few.csv',
    rows: ['a,bc,d', '1,2,3', '4,5,6'],
    notes: [/the last cell of 2 records is empty and has no name/],
  },
  {
    file: 'yfinance.csv',
    refused: /lines 2 to 3 .* parts of the header; pass header=3/,
    hints: [
      {
        hint: 'header=3',
        rows: [
          'Date,Close,High,Low,Open,Volume',
          '2023-02-17,254.5292510986328,256.53147567397895,252.49743818375117,255.84107105146936,30000100',
          '2023-02-21,249.08,251.7,248.34,251,28397400',
          '2023-02-22,247.94,250.75,247.02,250.48,22491100',
        ],
      },
    ],
  },
  {
    file: 'yfinance.csv',
    query: {
      header: '3',
      constants: '{"Ticker":"MSFT"}',
      columns: '{"High":null,"Low":null,"Open":null}',
    },
    rows: [
      'Date,Close,Volume,Ticker',
      '2023-02-17,254.5292510986328,30000100,MSFT',
      '2023-02-21,249.08,28397400,MSFT',
      '2023-02-22,247.94,22491100,MSFT',
    ],
    notes: [/header line 2 .*constants=\{"Ticker":"MSFT"\}/],
  },
  {
    file: 'yfinance-tickers.csv',
    refused: /pass header=3/,
    hints: [
      {
        hint: 'header=3',
        rows: [
          'Date,Close_AAPL,Close_MSFT,High_AAPL,High_MSFT',
          '2024-01-02,1.5,2.5,1.75,2.75',
          '2024-01-03,1.25,2.25,1.5,2.5',
          '2024-01-04,1,2,3,4',
        ],
      },
    ],
  },
];

const QUOTED: readonly TradeFile[] = [
  {
    file: 'cell-too-many.csv',
    rows: ['a,b,c', 'x,1,p', 'y,3,q'],
    rejects: ['3: Expected Number of Columns: 3 Found: 4'],
  },
  { file: 'comma-space.csv', rows: ['a,b', '1,"x, y"', '2,z'], notes: [/blanks around cells/] },
  { file: 'one-space.csv', rows: ['a,b,c', '1,2,x y', '3,4,z'] },
  {
    file: 'open-quote.csv',
    rows: ['a,b', '1,x', '3,z', '4,w'],
    rejects: ['3: a quote that is not closed'],
  },
  {
    file: 'quote-after-text.csv',
    rows: ['a,b,c', 'x,1,p', 'z,3,q'],
    rejects: ['3: a quote inside a cell encloses a delimiter'],
  },
  {
    file: 'single-quotes.csv',
    refused: /single quotes; pass quote=single \(--quote single\)/,
    hints: [
      { hint: 'quote=single', rows: ['a,b', '1,x', '2,"y, z"', '3,w'] },
      {
        hint: 'quote=double',
        rows: ['a,b', "1,'x'", "3,'w'"],
        rejects: ['3: Expected Number of Columns: 2 Found: 3'],
      },
    ],
  },
  {
    file: 'backslash.csv',
    refused: /with a backslash; pass escape=backslash \(--escape backslash\)/,
    hints: [
      { hint: 'escape=backslash', rows: ['a,b', '1,"say ""hi"", x"', '2,y', '3,z'] },
      {
        hint: 'escape=double',
        rows: ['a,b', '2,y', '3,z'],
        rejects: ['2: text after a closing quote'],
      },
    ],
  },
  {
    file: 'single-quotes.csv',
    query: { quote: 'none' },
    rows: ['a,b', "1,'x'", "3,'w'"],
    rejects: ['3: Expected Number of Columns: 2 Found: 3'],
  },
  {
    file: 'ragged.csv',
    rows: ['a,b,c', '1,2,3', '10,11,12'],
    rejects: [
      '3: Expected Number of Columns: 3 Found: 2',
      '4: Expected Number of Columns: 3 Found: 4',
    ],
  },
  {
    file: 'break-then-short.csv',
    rows: ['id,note', '1,"two\nlines"', '3,x'],
    rejects: ['4: Expected Number of Columns: 2 Found: 1'],
  },
];

const DATED: readonly TradeFile[] = [
  {
    file: 'histdata-time.csv',
    query: { header: 'false', dateFormat: '%Y%m%d %H%M%S%g' },
    rows: [
      'column1,column2,column3,column4',
      '2012-02-01T00:00:03.660Z,1.3066,1.30677,0',
      '2012-02-01T00:00:03.973Z,1.30658,1.30677,0',
      '2012-02-01T00:00:10.550Z,1.30661,1.30678,0',
    ],
  },
  {
    file: 'histdata-time.csv',
    query: { header: 'false', dateFormat: '%Y%m%d %H%M%S%g', timeZone: 'EST5' },
    rows: [
      'column1,column2,column3,column4',
      '2012-02-01T05:00:03.660Z,1.3066,1.30677,0',
      '2012-02-01T05:00:03.973Z,1.30658,1.30677,0',
      '2012-02-01T05:00:10.550Z,1.30661,1.30678,0',
    ],
  },
  {
    file: 'kraken-fraction.csv',
    rows: [
      'timestamp,price,volume',
      '2023-09-12T15:27:05.580298Z,26000.1,0.5',
      '2023-09-12T15:27:06.100Z,26000.2,0.1',
    ],
  },
  {
    file: 'seconds.csv',
    rows: ['timestamp,v', '2020-02-01T00:00:00.000Z,1', '2020-02-01T00:00:01.000Z,2'],
  },
  {
    file: 'milliseconds.csv',
    rows: ['timestamp,v', '2020-02-01T00:00:00.123Z,1', '2020-02-01T00:00:01.456Z,2'],
  },
  {
    file: 'microseconds.csv',
    rows: ['timestamp,v', '2020-02-01T00:00:00.123456Z,1', '2020-02-01T00:00:01.456789Z,2'],
  },
  {
    file: 'new-york.csv',
    query: { timeZone: 'America/New_York', dateOrder: 'DMY' },
    rows: [
      'time,price',
      '2024-01-02T14:30:00.000Z,1.5',
      '2024-03-10T07:30:00.000Z,2.5',
      '2024-11-03T05:30:00.000Z,3.5',
      '2024-07-01T13:30:00.000Z,4.5',
    ],
    notes: [
      /1 times do not exist in America\/New_York/,
      /1 times exist twice in America\/New_York/,
    ],
  },
  {
    file: 'mixed-offsets.csv',
    query: { timeZone: 'Asia/Kolkata' },
    rows: [
      'time,v',
      '2024-01-02T04:00:00.000Z,1',
      '2024-01-02T04:01:00.000Z,2',
      '2024-07-02T09:31:00.000Z,3',
    ],
  },
  {
    file: 'mixed-offsets.csv',
    query: { timeZone: '-05:30' },
    rows: [
      'time,v',
      '2024-01-02T15:00:00.000Z,1',
      '2024-01-02T04:01:00.000Z,2',
      '2024-07-02T09:31:00.000Z,3',
    ],
  },
  {
    file: 'short-days.csv',
    query: { dateFormat: '%d-%m-%y %H:%M' },
    rows: ['when,v', '2023-12-31T23:59:00.000Z,1', '2024-01-01T00:00:00.000Z,2'],
  },
];

export const TRADE_FILES: readonly TradeFile[] = [...AROUND, ...QUOTED, ...DATED];
