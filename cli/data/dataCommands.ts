// Declares the commands that load and query data. Each implementation is imported when its command runs.
import { type Command, Option } from 'commander';
import { CHART_KINDS } from '../../query/charts/records/chartPoints.ts';
import { TIER_NAMES } from '../../store/accounts/tiers.ts';
import type { ChartOptions } from './chart.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { CaptureOptions } from './capture.ts';
import type { DatasetOptions, DeleteOptions, IndexOptions, PurgeOptions } from './datasets.ts';
import type { ListenOptions } from './listen.ts';
import type { ShareOptions } from './sharing.ts';
import type { FileOptions, PublishOptions } from './files.ts';
import type { IngestOptions } from './ingest.ts';
import { dateOrderOption, duplicatesOption, readingOptions } from './readingOptions.ts';
import type { SqlOptions } from './sql.ts';
import { FORMATS } from './sqlInput.ts';
import type { Terminal } from '../connect/terminal.ts';

export function addIngest(root: Command, settings: () => Settings, terminal: Terminal): void {
  const ingest = root
    .command('ingest <file>')
    .description(
      'load CSV, JSON, Parquet or Arrow, compressed or not, into a dataset; - reads standard input',
    )
    .requiredOption('--dataset <name>', 'dataset to load into')
    .option('--workspace <name>', 'workspace; the first one of the account by default')
    .option('--key <property>', 'key of the unique index, for a new dataset')
    .option('--subkey <property>', 'subkey of the unique index, for a new dataset')
    .option('--date <property>', 'date of the unique index, for a new dataset')
    .option(
      '--no-index',
      'a new dataset has no unique index: it keeps every record, duplicates too',
    )
    .addOption(duplicatesOption())
    .addOption(dateOrderOption())
    .option('--max-errors <n>', 'most invalid records; with more, nothing is ingested')
    .option('--json-path <path>', 'path of the records in a JSON document, such as $.data.items[*]')
    .option('--time-zone <zone>', 'the same as --file-time-zone')
    .option('--json', 'print JSON lines');
  readingOptions(ingest).action(async (file: string, options: IngestOptions) =>
    (await import('./ingest.ts')).ingestFile(file, options, settings(), terminal),
  );
}

export function addSql(root: Command, settings: () => Settings, terminal: Terminal): void {
  const format = new Option('--format <format>', 'format of the answer; a table by default');
  const parameter = new Option(
    '--param <name=value>',
    'value of :name in the query; name:=text passes it as text',
  );
  const collected = (value: string, all: readonly string[]): readonly string[] => [...all, value];
  root
    .command('sql [query]')
    .description(
      'run a SELECT over datasets (docs/reference/sql.md); without a query it is read from standard input',
    )
    .option('--file <file>', 'read the query from a file')
    .option('--workspace <name>', 'workspace; the default one of the first account by default')
    .addOption(format.choices(['table', ...FORMATS]))
    .option('--output <file>', 'write the answer to a file; the format follows its extension')
    .option('--wide', 'do not shorten texts in a table')
    .addOption(parameter.argParser(collected).default([], 'none'))
    .option('--as-of <moment>', 'read the data as of a snapshot id, a date or a time')
    .option('--max-messages <n>', 'refuse to run a query that would cost more')
    .option('--explain', 'show the plan and the highest possible cost, without running the query')
    .option('--schema', 'show only the columns of the answer')
    .action(async (query: string | undefined, options: SqlOptions) =>
      (await import('./sql.ts')).answerQuery(query, options, settings(), terminal),
    );
}

type Placed = (name: string, what: string, isDefault?: boolean) => Command;

/** Declares commands of a workspace. */
const placing =
  (group: Command): Placed =>
  (name, what, isDefault = false) =>
    group
      .command(name, { isDefault })
      .description(what)
      .option('--workspace <name>', 'workspace; the first one of the account by default')
      .option('--json', 'print JSON lines');

export function addDatasets(root: Command, settings: () => Settings, terminal: Terminal): void {
  const dataset = root.command('dataset').description('datasets of a workspace');
  const placed = placing(dataset);
  placed('list', 'list datasets with their records and index', true).action(
    async (options: DatasetOptions) =>
      (await import('./datasets.ts')).listDatasets(options, settings(), terminal),
  );
  placed('describe <name>', 'show the properties of a dataset, their types, its index').action(
    async (name: string, options: DatasetOptions) =>
      (await import('./datasets.ts')).describeDataset(name, options, settings(), terminal),
  );
  placed('rename <name> <newName>', 'rename a dataset; its history stays').action(
    async (name: string, newName: string, options: DatasetOptions) =>
      (await import('./datasets.ts')).renameDataset(name, newName, options, settings(), terminal),
  );
  placed('delete <name>', 'delete a dataset with all its records')
    .option('--purge', 'remove it from every version, for good')
    .option('--yes', 'do it')
    .action(async (name: string, options: DeleteOptions) =>
      (await import('./datasets.ts')).deleteDataset(name, options, settings(), terminal),
    );
  addDatasetChanges(placed, settings, terminal);
}

function addDatasetChanges(placed: Placed, settings: () => Settings, terminal: Terminal): void {
  placed('purge <name> <key> [subkey] [date]', 'remove records from every version, for good')
    .option('--from <date>', 'only records on or after this date')
    .option('--to <date>', 'only records on or before this date')
    .option('--yes', 'do it')
    .action(
      async (
        name: string,
        key: string,
        subkey: string | undefined,
        date: string | undefined,
        options: PurgeOptions,
      ) => {
        const place = [key, subkey, date].filter((part) => part !== undefined);
        return (await import('./datasets.ts')).purgeRecords(
          ...([name, place, options, settings(), terminal] as const),
        );
      },
    );
  placed('share <name> [account]', 'let another account read a dataset, or show which ones do')
    .option('--weight <n>', 'messages that a record costs it; the weight of the dataset by default')
    .addOption(new Option('--tier <tier>', 'least tier that may read it').choices([...TIER_NAMES]))
    .option('--delay <minutes>', 'minutes after which it sees a record')
    .option('--stop', 'it may not read it any more')
    .action(async (name: string, account: string | undefined, options: ShareOptions) =>
      (await import('./sharing.ts')).shareDataset(name, account, options, settings(), terminal),
    );
  placed('index <name>', 'declare the unique index of a dataset, or keep every record')
    .option('--key <property>', 'key of the unique index')
    .option('--subkey <property>', 'subkey of the unique index')
    .option('--date <property>', 'date of the unique index')
    .option('--no-index', 'it keeps every record, duplicates too')
    .addOption(
      new Option(
        '--duplicates <which>',
        'record of a repeated index value that stays; without it such a dataset is refused',
      ).choices(['keep-first', 'replace']),
    )
    .action(async (name: string, options: IndexOptions) =>
      (await import('./datasets.ts')).changeIndex(name, options, settings(), terminal),
    );
}

export function addFiles(root: Command, settings: () => Settings, terminal: Terminal): void {
  const file = root.command('file').description('files that others download');
  const placed = placing(file);
  const named = (command: Command): Command =>
    command
      .requiredOption('--type <name>', 'file type')
      .option('--symbol <symbol>', 'symbol of the file, where its type is by symbol')
      .option('--date <day>', 'day of the file, YYYYMMDD, where its type is by date');
  const publish = named(
    placed(
      'publish [file]',
      'publish a file, or an export of a dataset; replaces one of that name',
    ),
  );
  publish
    .option('--dataset <name>', 'publish this dataset instead of a file')
    .addOption(
      new Option('--format <format>', 'format of a dataset; parquet by default').choices([
        'csv',
        'jsonl',
        'parquet',
        'arrow',
      ]),
    )
    .option('--weight <n>', 'messages of one download; 1 by default')
    .option('--source <text>', 'credit that must be shown with the file')
    .action(async (path: string | undefined, options: PublishOptions) =>
      (await import('./files.ts')).publishFile(path, options, settings(), terminal),
    );
  placed('list [type]', 'list file types, or the files of one').action(
    async (type: string | undefined, options: Omit<FileOptions, 'type'>) =>
      (await import('./files.ts')).listFiles(type, options, settings(), terminal),
  );
  named(placed('unpublish', 'withdraw a file')).action(async (options: FileOptions) =>
    (await import('./files.ts')).unpublishFile(options, settings(), terminal),
  );
}

export function addStreams(root: Command, settings: () => Settings, terminal: Terminal): void {
  root
    .command('stream <name>')
    .description(
      'show messages of a stream as they arrive: tops, last, stocksUS1Second, …, or WORKSPACE/DATASET',
    )
    .option('--symbols <list>', 'at most 50, with commas; all by default')
    .option('--channels <list>', 'channels of deep')
    .option('--count <n>', 'end after so many messages')
    .option('--json', 'print JSON lines')
    .action(async (name: string, options: ListenOptions) =>
      (await import('./listen.ts')).listen(name, options, settings(), terminal),
    );
  addChart(root, settings, terminal);
  root
    .command('types <workspace>')
    .description('print the records of its datasets as interfaces of TypeScript')
    .action(async (workspace: string) =>
      (await import('./recordTypes.ts')).printTypes(workspace, settings(), terminal),
    );
  root
    .command('mcp')
    .description(
      'serve agents over standard input and output (Model Context Protocol), with the token of --token',
    )
    .action(async () => (await import('./mcp.ts')).serveAgent(settings(), terminal));
  const capture = root
    .command('capture')
    .description(
      "recordings of an exchange's feed: TOPS 1.5 and 1.6, DEEP 1.0, in pcap or pcapng, plain or gzip",
    );
  capture
    .command('info <file>')
    .description('summarize a capture, and report what can not be read')
    .option('--json', 'print JSON')
    .action(async (file: string, options: CaptureOptions) =>
      (await import('./capture.ts')).showCapture(file, options, terminal),
    );
  capture
    .command('import <file>')
    .description('load its trades, best offers, and the bars they make into CORE')
    .option('--json', 'print JSON lines')
    .action(async (file: string, options: CaptureOptions) =>
      (await import('./capture.ts')).importCapture(file, options, settings(), terminal),
    );
}

function addChart(root: Command, settings: () => Settings, terminal: Terminal): void {
  root
    .command('chart <symbol>')
    .description('draw the prices of a symbol, or columns of a dataset, here or into a file')
    .option('--range <code>', '5d, 1m, 6m, ytd, 1y, 5y, max, …', '1y')
    .option(
      '--dataset <name>',
      'WORKSPACE.DATASET instead of the market; the symbol is its key, or several keys with commas',
    )
    .option(
      '--columns <names>',
      'columns to draw, separated by commas; close, price or value by default',
    )
    .addOption(new Option('--column <names>').conflicts('columns').hideHelp())
    .addOption(
      new Option('--kind <kind>', 'lines, or candles of open, high, low and close').choices(
        CHART_KINDS,
      ),
    )
    .option('--out <file>', 'a file instead of the terminal: .svg, .png, or .vl.json of Vega-Lite')
    .action(async (symbol: string, options: ChartOptions) =>
      (await import('./chart.ts')).drawChart(symbol, options, settings(), terminal),
    );
}
