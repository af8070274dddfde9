// `tapedeck core load`: files as vendors make them into an input of the market. What each column is taken
// for is shown before anything is loaded; guessing, reading and loading are the API's.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { parse } from 'csv-parse/sync';
import { type Input, INPUTS, inputOf } from '../../market/inputs/inputs.ts';
import type { Reading } from '../../pipeline/bytes/reading.ts';
import { CORE } from '../../store/datasets/datasets.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings.ts';
import { followJob } from '../print/followJob.ts';
import { harmless } from '../print/terminalText.ts';
import type { AskData } from '../reach/dataApi.ts';
import { sayTo, type Terminal } from '../reach/terminal.ts';
import { type AskValue, withWorkspace } from '../reach/workspaceApi.ts';
import { confirm, type DryRun, show } from './corePreview.ts';
import { inQuery, type ReadingOptions, readingOf } from './readingOptions.ts';
import { symbolOfFile } from './symbolOfFile.ts';

export interface CoreLoadOptions extends Omit<ReadingOptions, 'as' | 'wide'> {
  /** The input. */
  readonly as: string;
  readonly symbol?: string;
  readonly adjusted?: true;
  /** The property that the cells of a file with a column for each symbol are. */
  readonly wide?: string;
  readonly duplicates?: string;
  readonly dateOrder?: string;
  readonly maxErrors?: string;
  readonly yes?: true;
  readonly json?: boolean;
}

/** Rejected records of a file that are shown. */
const REJECTS_SHOWN = 5;

interface Loading {
  readonly input: Input;
  readonly options: CoreLoadOptions;
  readonly terminal: Terminal;
  readonly ask: AskValue;
  readonly askData: AskData;
}

export async function loadCore(
  files: readonly string[],
  options: CoreLoadOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const input = inputOf(options.as);
  if (input === undefined) {
    const ids = INPUTS.map(({ id }) => id).join(', ');
    throw new Failure('InvalidParameter', `--as must be one of ${ids}`);
  }
  const paths = files.map((file) => resolve(terminal.folder, file));
  // A name that is wrong is told before the first file is loaded.
  for (const path of paths) await stat(path);
  await withWorkspace(settings, CORE, terminal, async (ask, _, askData) => {
    const loading = { input, options, terminal, ask, askData };
    const [first = ''] = paths;
    const looked = await look(first, loading);
    show({ file: basename(first), input, ...looked }, options, terminal);
    if (looked.run.error !== null) throw new Failure('InvalidBody', looked.run.error);
    if (options.yes !== true) await confirm(terminal);
    for (const path of paths) {
      try {
        await load(path, readingFor(path, looked), loading);
      } catch (error) {
        terminal.stderr.write(`tapedeck: ${basename(path)}: ${reasonOf(error)}\n`);
        terminal.endWith(1);
      }
    }
  });
}

/** What a dry run told, and what is to be said of each file. */
interface Looked {
  readonly run: DryRun;
  readonly reading: Reading;
  /** No column has the symbol: each file has that of its name. */
  readonly isNamed: boolean;
  /** The file has a column for each symbol. */
  readonly wide?: Reading['wide'];
}

/** @throws Failure where nothing gives a property without which a record says nothing. */
async function look(path: string, loading: Loading): Promise<Looked> {
  const { input, options } = loading;
  const said = readingSaid(loading);
  let reading: Reading = { ...said, guess: true };
  let run = await dryRun(path, reading, loading);
  const wide = said.wide === undefined ? wideReading(input, reading, run) : undefined;
  if (wide !== undefined) {
    reading = wide;
    run = await dryRun(path, reading, loading);
  }
  const symbol = symbolOfFile(path);
  const isNamed = missing(input, run).includes('symbol') && symbol !== undefined;
  if (isNamed) {
    reading = { ...reading, constants: { ...said.constants, symbol } };
    run = await dryRun(path, reading, loading);
  }
  const lacking = missing(input, run);
  if (lacking.length > 0) throw lacks(lacking, run);
  // Explicit from here on: another file is not guessed otherwise.
  const columns = reading.wide === undefined ? changed(run.columns) : keptOf(run, reading.wide);
  const constants = { ...run.constants, ...said.constants };
  const shape = { ...readingOf(withoutAs(options)), columns, constants };
  return { run, reading: { ...shape, ...wideOf(reading) }, isNamed, ...wideOf(reading) };
}

const wideOf = ({ wide }: Reading): Pick<Reading, 'wide'> => (wide === undefined ? {} : { wide });

/** Columns of a wide file that stay in each record. */
const keptOf = (
  { columns }: DryRun,
  { names, values }: NonNullable<Reading['wide']>,
): DryRun['columns'] =>
  Object.fromEntries(
    Object.entries(columns).filter(([column]) => column !== names && column !== values),
  );

/** What may be a symbol above a column of a wide file. */
const TICKER = /^(?=.*[A-Z])[A-Z0-9.^=/ -]{1,12}$/;

/** Days, and beside them nothing but symbols: undefined for any other file. */
function wideReading(input: Input, reading: Reading, run: DryRun): Reading | undefined {
  const lacking = missing(input, run);
  if (!lacking.includes('symbol') || !lacking.includes('close')) return undefined;
  const all = Object.entries(run.columns).filter(([, property]) => property !== null);
  const days = all.filter(([, property]) => property === 'date');
  const others = all.filter(([, property]) => property !== 'date');
  const isWide = days.length === 1 && others.every(([column]) => TICKER.test(column));
  if (!isWide || others.length === 0) return undefined;
  const columns = { ...reading.columns, ...Object.fromEntries(days) };
  return { ...reading, columns, wide: { names: 'symbol', values: 'close' } };
}

const withoutAs = ({ as: _, wide: __, ...options }: CoreLoadOptions): ReadingOptions => options;

/** What the command line says of columns. @throws Failure for what the input does not have. */
function readingSaid({ input, options }: Loading): Reading {
  const { adjusted, symbol, wide } = options;
  const has = (name: string): boolean => input.properties.some((one) => one.name === name);
  const given = { ...options.set, ...(symbol === undefined ? {} : { symbol }) };
  if (symbol !== undefined && !has('symbol')) {
    throw new Failure('InvalidParameter', `--symbol: records of ${input.id} have no symbol`);
  }
  if (adjusted === true && !has('isSplitAdjusted')) {
    throw new Failure('InvalidParameter', '--adjusted is for HISTORICAL_PRICES');
  }
  if (wide !== undefined && (!has('symbol') || !has(wide))) {
    throw new Failure('InvalidParameter', `--wide: ${input.id} has no symbol and ${wide}`);
  }
  const constants = { ...given, ...(adjusted === true ? { isSplitAdjusted: true } : {}) };
  const cells = wide === undefined ? {} : { wide: { names: 'symbol', values: wide } };
  return { ...readingOf(withoutAs(options)), constants, ...cells };
}

const changed = (columns: DryRun['columns']): DryRun['columns'] =>
  Object.fromEntries(Object.entries(columns).filter(([column, property]) => column !== property));

function missing({ properties }: Input, { columns, constants }: DryRun): readonly string[] {
  const given = new Set([...Object.values(columns), ...Object.keys(constants)]);
  return properties
    .filter(({ name, required }) => required === true && !given.has(name))
    .map(nameOf);
}

const nameOf = ({ name }: { readonly name: string }): string => name;

function lacks(names: readonly string[], { columns }: DryRun): Failure {
  const there = `columns are ${Object.keys(columns).join(', ')}`;
  const ways = names.map((name) =>
    name === 'symbol'
      ? '--symbol AAPL names the symbol of all records, --map COLUMN=symbol a column'
      : `--map COLUMN=${name} names a column, --set ${name}=VALUE a value for all records`,
  );
  if (names.includes('close')) ways.push('--wide close: a column for each symbol');
  const told = `nothing gives ${names.join(', ')} (${there})`;
  return new Failure('InvalidBody', `${told}: ${ways.join('; ')}`);
}

async function dryRun(path: string, reading: Reading, loading: Loading): Promise<DryRun> {
  const query = queryOf(reading, loading.options);
  query.set('dryRun', 'true');
  return (await post(path, query, loading)) as DryRun;
}

async function load(path: string, reading: Reading, loading: Loading): Promise<void> {
  const { ask, askData, options, terminal } = loading;
  const made = await post(path, queryOf(reading, options), loading);
  const { jobId } = made as { readonly jobId: string };
  const job = await followJob(ask, jobId, basename(path), options, terminal);
  if (job.recordsInvalid === 0 || options.json === true) return;
  const log = `/jobs/${CORE}/ingest/${jobId}/invalid-records-log`;
  const answer = await askData({ method: 'GET', path: log });
  const rows = parse(await text(answer.body), { from_line: 2 }) as readonly string[][];
  const say = sayTo(terminal);
  for (const [, line = '', error = ''] of rows.slice(0, REJECTS_SHOWN)) {
    say(harmless(`rejected line ${line}: ${error}`));
  }
  const more = job.recordsInvalid - Math.min(rows.length, REJECTS_SHOWN);
  if (more > 0) say(`rejected ${more} more: GET /v1${log} has them`);
}

/** Of a file that has the symbol in its name alone. */
function readingFor(path: string, { isNamed, reading }: Looked): Reading {
  if (!isNamed) return reading;
  const symbol = symbolOfFile(path);
  if (symbol === undefined) {
    throw new Failure('InvalidBody', 'its name is no symbol: load it by itself with --symbol');
  }
  return { ...reading, constants: { ...reading.constants, symbol } };
}

async function post(
  path: string,
  query: URLSearchParams,
  { askData, input }: Loading,
): Promise<unknown> {
  const body = createReadStream(path);
  const where = `/data/${CORE}/${input.id}?${query}`;
  const answer = await askData({ method: 'POST', path: where, body });
  return JSON.parse(await text(answer.body));
}

function queryOf(reading: Reading, options: CoreLoadOptions): URLSearchParams {
  const { dateOrder, duplicates = 'ignore', maxErrors } = options;
  const query = new URLSearchParams({ duplicateKeyHandling: duplicates });
  if (dateOrder !== undefined) query.set('dateOrder', dateOrder);
  if (maxErrors !== undefined) query.set('maximumValidationErrors', maxErrors);
  for (const [name, said] of Object.entries(reading)) {
    const isNone = typeof said === 'object' && Object.keys(said).length === 0;
    if (!isNone) query.set(name, inQuery(name, said));
  }
  return query;
}
