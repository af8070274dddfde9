// Odd files of test/pipeline/inputs, and the expected result of each: written before any was loaded.

/** The expected result of a file, without an option or with `query`. */
export interface OddFile {
  readonly file: string;
  /** Property to type: s text, i integer, n number, b boolean, d date, t date-time, c time of day, o object,
   * a list. */
  readonly types?: string;
  readonly records?: number;
  /** Records that are rejected; none when undefined. */
  readonly invalid?: number;
  /** A part of the sentence that refuses the file as it is. */
  readonly refused?: RegExp;
  /** The parameters that the sentence names; with them the file loads. */
  readonly query?: Readonly<Record<string, string>>;
}

const PRICES = { types: 'symbol:s date:d price:n', records: 3 } as const;

export const ODD_FILES: readonly OddFile[] = [
  // Lines and bytes around the records.
  { file: 'plain.csv', ...PRICES },
  { file: 'last-cell-of-lines.csv', types: 'symbol:s close:n note:s', records: 2 },
  { file: 'bom.csv', ...PRICES },
  { file: 'crlf.csv', ...PRICES },
  { file: 'cr.csv', ...PRICES },
  { file: 'mixed-ends.csv', ...PRICES },
  { file: 'no-last-break.csv', ...PRICES },
  { file: 'semicolon.csv', ...PRICES },
  { file: 'tab.tsv', ...PRICES },
  { file: 'pipe.psv', ...PRICES },
  { file: 'sep-line.csv', ...PRICES },
  { file: 'aligned.txt', ...PRICES },
  { file: 'one-blank.txt', types: 'id:i weight:n', records: 3 },
  { file: 'blank-lines.csv', ...PRICES },
  { file: 'blanks-in-lines.csv', ...PRICES },
  { file: 'one-column-blanks.csv', types: 'price:n', records: 3 },
  { file: 'trailing-all.csv', ...PRICES },
  { file: 'trailing-rows.csv', ...PRICES },
  { file: 'trailing-header.csv', ...PRICES },
  { file: 'spaced.csv', ...PRICES },
  { file: 'packed.csv.gz', ...PRICES },
  { file: 'mac.zip', ...PRICES },
  // Encodings.
  { file: 'latin1.csv', types: 'city:s people:i', records: 3 },
  { file: 'windows1252.csv', types: 'name:s note:s', records: 2 },
  { file: 'utf16le-bom.csv', ...PRICES },
  { file: 'utf16be-bom.csv', ...PRICES },
  { file: 'utf16le.csv', ...PRICES },
  { file: 'utf16be.csv', ...PRICES },
  { file: 'utf16-tabs.txt', ...PRICES },
  { file: 'utf16.json', types: 'symbol:s price:n', records: 2 },
  {
    file: 'mixed-encodings.csv',
    refused: /byte 0xE8 in line 3 is no UTF-8, and line 2 is; pass encoding=/,
    query: { encoding: 'windows-1252' },
    types: 'city:s people:i',
    records: 2,
  },
  {
    file: 'cyrillic.csv',
    refused: /byte 0xE3 in line 1 is no UTF-8; pass encoding=/,
    query: { encoding: 'windows-1251' },
    types: 'город:s люди:i',
    records: 2,
  },
  { file: 'utf32.csv', refused: /UTF-32: write it as UTF-8/ },
  { file: 'nul.csv', refused: /line 3 holds NUL bytes/ },
  // Headers and the lines above and below.
  { file: 'one-column.csv', types: 'price:n', records: 3 },
  { file: 'one-column-words.csv', types: 'remark:s', records: 3 },
  { file: 'one-row.csv', types: 'symbol:s date:d price:n', records: 1 },
  { file: 'header-alone.csv', refused: /has a header \("symbol,date,price"\) and no record/ },
  { file: 'header-alone-no-break.csv', refused: /and no record; .* create the dataset first/ },
  { file: 'all-equal.csv', types: 'symbol:s price:n', records: 3 },
  {
    file: 'no-header.csv',
    refused:
      /the first line \("AAA,2024-01-02,10.5"\) is a record.* pass header=false \(--no-header\)/,
    query: { header: 'false' },
    types: 'column1:s column2:d column3:n',
    records: 3,
  },
  {
    file: 'no-header-numbers.csv',
    refused: /pass header=false/,
    query: { header: 'false' },
    types: 'column1:i column2:n',
    records: 3,
  },
  // A schema is a JSON object, and JavaScript objects list names of digits first.
  { file: 'years-header.csv', types: '2019:n 2020:n 2021:n country:s', records: 2 },
  {
    file: 'units.csv',
    refused: /the second line \(",YYYY-MM-DD,USD"\) .* pass header=2 \(--header-lines 2\)/,
    query: { header: '2' },
    ...PRICES,
  },
  { file: 'first-absent.csv', types: 'symbol:s price:n', records: 3 },
  {
    file: 'title.csv',
    refused: /pass skipLines=1 \(--skip-lines 1\)/,
    query: { skipLines: '1' },
    ...PRICES,
  },
  { file: 'titles.csv', refused: /pass skipLines=3/, query: { skipLines: '3' }, ...PRICES },
  { file: 'comment.csv', ...PRICES },
  { file: 'hash-header.csv', types: '#symbol:s date:d price:n', records: 3 },
  {
    file: 'totals.csv',
    refused: /the last line \("Total,1400"\) .* pass skipLast=1 \(--skip-last 1\)/,
    query: { skipLast: '1' },
    types: 'item:s amount:n',
    records: 2,
  },
  {
    file: 'grand-total.csv',
    refused: /pass skipLast=1/,
    query: { skipLast: '1' },
    types: 'region:s item:s amount:n',
    records: 3,
  },
  {
    file: 'footnote.csv',
    refused: /\("Source: the exchange"\) .* pass skipLast=1/,
    query: { skipLast: '1' },
    types: 'symbol:s date:d price:n',
    records: 2,
  },
  {
    file: 'footnotes.csv',
    refused: /pass skipLast=2/,
    query: { skipLast: '2' },
    types: 'symbol:s date:d price:n',
    records: 2,
  },
  {
    file: 'row-names.csv',
    refused: /names 2 columns and the records have 3.* pass header=false&skipLines=1/,
    query: { header: 'false', skipLines: '1' },
    types: 'column1:s column2:n column3:i',
    records: 3,
  },
  { file: 'duplicate-names.csv', types: 'symbol:s price:n price_2:n', records: 2 },
  { file: 'case-names.csv', types: 'symbol:s Price:n price_2:n', records: 2 },
  { file: 'empty-name.csv', types: 'column1:i symbol:s price:n', records: 2 },
  {
    file: 'names-with-spaces.csv',
    types: 'Fund Name:s As Of Date:d Total Return (%):n',
    records: 2,
  },
  // Cells.
  { file: 'quoted-breaks.csv', types: 'symbol:s note:s', records: 2 },
  { file: 'quoted-crlf.csv', types: 'symbol:s note:s', records: 2 },
  { file: 'quoted-all.csv', types: 'symbol:s date:d price:n', records: 2 },
  { file: 'angle-header.csv', types: '<TICKER>:s <DATE>:d <CLOSE>:n', records: 2 },
  { file: 'angle-values.csv', types: 'id:i html:s', records: 2 },
  { file: 'blank-keys.csv', types: 'symbol:s price:n', records: 3 },
  { file: 'dates-german.csv', types: 'symbol:s datum:d kurs:n', records: 2 },
  { file: 'money.csv', types: 'item:s amount:n', records: 2 },
  { file: 'percent.csv', types: 'item:s share:n', records: 2 },
  // Files without data.
  { file: 'html.csv', refused: /the body is a web page \("Please log in & wait"\)/ },
  { file: 'html-bom-comment.csv', refused: /a web page \("404 Not Found"\)/ },
  { file: 'html-fragment.csv', refused: /a web page \("Service unavailable, try later"\)/ },
  { file: 'xhtml.csv', refused: /a web page \("Maintenance"\)/ },
  { file: 'login-form.csv', refused: /the body is a web page/ },
  { file: 'html-utf16.csv', refused: /a web page \("Wide page"\)/ },
  { file: 'page.html.gz', refused: /a web page \("Packed page"\)/ },
  { file: 'error.xml', refused: /the body is XML \("Access Denied"\)/ },
  { file: 'feed.xml', refused: /the body is XML \("News"\)/ },
  { file: 'error.json', refused: /the body is an error \("Invalid API key"\)/ },
  { file: 'error-object.json', refused: /an error \("Quota exceeded"\)/ },
  { file: 'error-list.json', refused: /an error \("not found"\)/ },
  { file: 'not-error.json', types: 'symbol:s message:s status:i', records: 2 },
  { file: 'readme.md', refused: /a document \(Markdown, "A project"\)/ },
  { file: 'readme-underlined.md', refused: /a document \(Markdown, "A project"\)/ },
  { file: 'document.pdf', refused: /a PDF document/ },
  { file: 'image.png', refused: /an image \(PNG\)/ },
  { file: 'image.jpg', refused: /an image \(JPEG\)/ },
  { file: 'image.gif', refused: /an image \(GIF\)/ },
  { file: 'image.webp', refused: /an image \(WebP\)/ },
  { file: 'image.svg', refused: /an image \(SVG\)/ },
  { file: 'book.xlsx', refused: /an office file \(such as xlsx\): export it as CSV/ },
  { file: 'sheet.ods', refused: /export it as CSV/ },
  { file: 'old.xls', refused: /an office file: export it as CSV/ },
  { file: 'program.bin', refused: /an executable program/ },
  { file: 'database.sqlite', refused: /an SQLite database: export its table as CSV/ },
  { file: 'lfs-pointer.csv', refused: /a pointer of Git LFS/ },
  { file: 'jsonp.js', refused: /JavaScript/ },
  { file: 'dump.sql', refused: /a script of SQL/ },
  { file: 'empty.csv', refused: /the body is empty/ },
  // JSON.
  { file: 'lines.jsonl', types: 'symbol:s price:n', records: 2 },
  { file: 'pretty.json', types: 'symbol:s price:n', records: 1 },
  {
    file: 'geo.json',
    refused: /\$\.features\[\*\] has 2 objects; pass jsonPath=\$\.features\[\*\]/,
    query: { jsonPath: '$.features[*]' },
    types: 'type:s properties:o geometry:o',
    records: 2,
  },
  {
    file: 'api.json',
    refused: /\$\.data\.items\[\*\] has 2 objects/,
    query: { jsonPath: '$.data.items[*]' },
    types: 'symbol:s price:n',
    records: 2,
  },
  {
    file: 'graph.json',
    refused: /\$\.nodes\[\*\] has 3 objects, \$\.links\[\*\] has 2 objects/,
    query: { jsonPath: '$.links[*]' },
    types: 'source:i target:i',
    records: 2,
  },
  { file: 'numbers.json', refused: /no JSON object/ },
  // Formats that have types of their own.
  { file: 'time.parquet', types: 'k:i opens:c', records: 1 },
];
