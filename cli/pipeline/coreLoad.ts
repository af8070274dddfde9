// `tapedeck core load`: what a vendor made into an input of the market. What each column is taken for is
// shown before anything is loaded; guessing, reading and loading are the API's.
import { text } from 'node:stream/consumers';
import { parse } from 'csv-parse/sync';
import type { Input } from '../../market/inputs/inputRow.ts';
import { INPUTS, inputOf } from '../../market/inputs/inputs.ts';
import { type ActionColumn, findActionColumns } from '../../market/files/fileRewrites.ts';
import type { Reading } from '../../pipeline/bytes/reading.ts';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { quoteWord } from '../../store/base/shellWord.ts';
import { toWords } from '../data/readingOptions.ts';
import { followJob } from '../print/followJob.ts';
import { harmless } from '../print/terminalText.ts';
import type { AskData } from '../reach/dataApi.ts';
import { sayTo, type Terminal } from '../reach/terminal.ts';
import { type AskValue, withWorkspace } from '../reach/workspaceApi.ts';
import { loadingOf, type LoadOptions, type Origin, originOf } from './coreOrigin.ts';
import { confirm, type DryRun, show } from './corePreview.ts';
import { showRuns } from './schedules.ts';
import {
  type CoreOptions,
  explicitReading,
  lacks,
  missing,
  readingSaid,
  wideReading,
} from './coreReading.ts';

export interface CoreLoadOptions extends CoreOptions, LoadOptions {
  readonly every?: string;
  readonly cron?: string;
  readonly timeZone?: string;
  /** Dividends and splits in a file of daily bars are loaded too. */
  readonly withActions?: true;
  readonly yes?: true;
  readonly json?: boolean;
}

const PRICES = 'HISTORICAL_PRICES';
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
  given: readonly string[],
  options: CoreLoadOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const input = inputOf(options.as);
  if (input === undefined) {
    const ids = INPUTS.map(({ id }) => id).join(', ');
    throw new Failure('InvalidParameter', `--as must be one of ${ids}`);
  }
  await withWorkspace(settings, CORE, terminal, async (ask, _, askData) => {
    const loading = { input, options, terminal, ask, askData };
    const found = await loadOrigins(await openOrigins(given, loading), given, loading);
    if (options.withActions !== true) return;
    for (const id of found) {
      const action = {
        ...loading,
        input: inputOf(id) ?? input,
        options: actionOptions(id, options),
      };
      await loadOrigins(await openOrigins(given, action), given, action);
    }
  });
}

/** A name that is wrong is reported before the first is loaded. */
async function openOrigins(
  given: readonly string[],
  { ask, askData, input, options, terminal }: Loading,
): Promise<readonly Origin[]> {
  const asking = { id: input.id, folder: terminal.folder, options, ask, askData };
  const origins: Origin[] = [];
  for (const one of given) origins.push(await originOf(one, asking));
  return origins;
}

/** What the command line says of prices is not said of dividends and splits. */
const actionOptions = (
  id: string,
  { adjusted: _, set, ...options }: CoreLoadOptions,
): CoreLoadOptions => ({
  ...options,
  as: id,
  map: {},
  set: Object.hasOwn(set, 'symbol') ? { symbol: set['symbol'] ?? '' } : {},
});

/** The commands that load what a daily file has besides prices. */
function suggestActions(
  actions: readonly ActionColumn[],
  given: readonly string[],
  { options, terminal }: Loading,
): void {
  if (options.json === true) return;
  const say = sayTo(terminal);
  for (const { column, input } of actions) {
    const words = [...given, '--as', input, ...toWords(actionOptions(input, options)), '--yes'];
    const command = words.map(quoteWord).join(' ');
    say(harmless(`${column}: tapedeck core load ${command} loads it too`));
  }
}

async function loadOrigins(
  origins: readonly Origin[],
  given: readonly string[],
  loading: Loading,
): Promise<readonly string[]> {
  const { input, options, terminal } = loading;
  const isConfirmed = options.confirmAdjustment === true;
  const [first] = origins;
  if (first === undefined) return [];
  const isRegular = options.every !== undefined || options.cron !== undefined;
  if (isRegular && origins.some(({ sourceId }) => sourceId === undefined)) {
    const rule = 'are for a data source: a file is not read again';
    throw new Failure('InvalidParameter', `--every and --cron ${rule}`);
  }
  const looked = await look(first, loading);
  const { isNamed, reading, run } = looked;
  show({ name: first.name, input, isNamed, run, wide: reading.wide }, options, terminal);
  if (run.error !== null) throw new Failure('InvalidBody', run.error);
  const actions = input.id === PRICES ? findActionColumns(Object.keys(run.columns)) : [];
  if (actions.length > 0 && options.withActions !== true) suggestActions(actions, given, loading);
  if (options.yes !== true) await confirm(terminal);
  for (const origin of origins) {
    try {
      const isShown = origin === first && !isRegular;
      const confirmed = isShown || isConfirmed ? looked : unconfirmed(looked);
      if (isRegular) await schedule(origin, confirmed.reading, loading);
      else await load(origin, readingFor(origin, confirmed), loading);
    } catch (error) {
      terminal.stderr.write(`tapedeck: ${origin.name}: ${reasonOf(error)}\n`);
      terminal.endWith(1);
    }
  }
  return actions.map((action) => action.input);
}

/** What a dry run told, and what is to be said of each file. */
interface Looked {
  readonly run: DryRun;
  readonly reading: Reading;
  /** No column has the symbol: each file has that of its name. */
  readonly isNamed: boolean;
}

/** @throws Failure where nothing gives a property without which a record says nothing. */
async function look(origin: Origin, { input, options }: Loading): Promise<Looked> {
  const said = readingSaid(input, options);
  // A contradiction is part of the preview, and who loads it so confirms it.
  let reading: Reading = { ...said, guess: true, confirmAdjustment: true };
  let run = await origin.dryRun(reading);
  const wide = said.wide === undefined ? wideReading(input, reading, run) : undefined;
  if (wide !== undefined) {
    reading = wide;
    run = await origin.dryRun(reading);
  }
  const { symbol } = origin;
  const isNamed = missing(input, run).includes('symbol') && symbol !== undefined;
  if (isNamed) {
    reading = { ...reading, constants: { ...said.constants, symbol } };
    run = await origin.dryRun(reading);
  }
  const lacking = missing(input, run);
  if (lacking.length > 0) throw lacks(lacking, run);
  return { run, reading: explicitReading(reading, said, run), isNamed };
}

/** What was shown of one file says nothing of another, nor of a later run. */
function unconfirmed({ reading, ...looked }: Looked): Looked {
  const { confirmAdjustment: _, ...rest } = reading;
  return { ...looked, reading: rest };
}

/** Of a file that has the symbol in its name alone. */
function readingFor({ symbol }: Origin, { isNamed, reading }: Looked): Reading {
  if (!isNamed) return reading;
  if (symbol === undefined) {
    throw new Failure('InvalidBody', 'its name is no symbol: load it by itself with --symbol');
  }
  return { ...reading, constants: { ...reading.constants, symbol } };
}

async function load(origin: Origin, reading: Reading, loading: Loading): Promise<void> {
  const { ask, askData, options, terminal } = loading;
  const jobId = await origin.load(reading);
  const job = await followJob(ask, jobId, origin.name, options, terminal);
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

/** The schedule keeps what the columns are: each of its runs reads them alike. */
async function schedule(
  { name, sourceId }: Origin,
  reading: Reading,
  { ask, input, options, terminal }: Loading,
): Promise<void> {
  const { cron, every, json, timeZone } = options;
  const made = (await ask('POST', '/ingestion-schedules', {
    ...loadingOf(options),
    name: `${input.id} from ${name}`,
    datasetId: input.id,
    dataSourceId: sourceId,
    reading,
    ...(cron === undefined ? { every } : { cron }),
    ...(timeZone === undefined ? {} : { timeZone }),
  })) as Parameters<typeof showRuns>[0];
  const say = sayTo(terminal);
  const when = cron ?? `every ${every}`;
  say(json === true ? JSON.stringify(made) : `${input.id}: ${name} is loaded ${when}, so read`);
  if (json !== true) await showRuns(made, ask, terminal);
}
