// `tapedeck core load`: loads files of a vendor into an input of the market. Previews the column mapping
// before anything is loaded; the API guesses, reads and loads.
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
import { escapeControls } from '../print/terminalText.ts';
import type { CallData } from '../connect/dataApi.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';
import { type CallJson, withWorkspace } from '../connect/workspaceApi.ts';
import { loadMembers, type LoadOptions, type Origin, openOrigin } from './coreOrigin.ts';
import { confirmLoad, type DryRun, showPreview } from './corePreview.ts';
import { showRuns } from './schedules.ts';
import {
  type CoreOptions,
  explicitReading,
  missingFailure,
  findMissing,
  buildInputReading,
  wideReading,
} from './coreReading.ts';

export interface CoreLoadOptions extends CoreOptions, LoadOptions {
  readonly every?: string;
  readonly cron?: string;
  readonly timeZone?: string;
  /** Also loads dividends and splits in a file of daily bars. */
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
  readonly call: CallJson;
  readonly callData: CallData;
}

export async function loadCore(
  originNames: readonly string[],
  options: CoreLoadOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const input = inputOf(options.as);
  if (input === undefined) {
    const ids = INPUTS.map(({ id }) => id).join(', ');
    throw new Failure('InvalidParameter', `--as must be one of ${ids}`);
  }
  await withWorkspace(settings, CORE, terminal, async (call, _, callData) => {
    const loading = { input, options, terminal, call, callData };
    const actionInputs = await loadOrigins(
      await openOrigins(originNames, loading),
      originNames,
      loading,
    );
    if (options.withActions !== true) return;
    for (const id of actionInputs) {
      const action = {
        ...loading,
        input: inputOf(id) ?? input,
        options: actionOptions(id, options),
      };
      await loadOrigins(await openOrigins(originNames, action), originNames, action);
    }
  });
}

/** Opens all origins: a wrong name is reported before the first is loaded. */
async function openOrigins(
  originNames: readonly string[],
  { call, callData, input, options, terminal }: Loading,
): Promise<readonly Origin[]> {
  const asking = { id: input.id, folder: terminal.folder, options, call, callData };
  const origins: Origin[] = [];
  for (const one of originNames) origins.push(await openOrigin(one, asking));
  return origins;
}

/** Removes the options that apply only to prices, for loads of dividends and splits. */
const actionOptions = (
  id: string,
  { adjusted: _, set, ...options }: CoreLoadOptions,
): CoreLoadOptions => ({
  ...options,
  as: id,
  map: {},
  set: Object.hasOwn(set, 'symbol') ? { symbol: set['symbol'] ?? '' } : {},
});

/** Prints the commands that load the dividends and splits of a daily file. */
function suggestActions(
  actions: readonly ActionColumn[],
  originNames: readonly string[],
  { options, terminal }: Loading,
): void {
  if (options.json === true) return;
  const print = printTo(terminal);
  for (const { column, input } of actions) {
    const words = [
      ...originNames,
      '--as',
      input,
      ...toWords(actionOptions(input, options)),
      '--yes',
    ];
    const command = words.map(quoteWord).join(' ');
    print(escapeControls(`${column}: tapedeck core load ${command} loads it too`));
  }
}

async function loadOrigins(
  origins: readonly Origin[],
  originNames: readonly string[],
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
  const preview = await previewOrigin(first, loading);
  const { isNamed, reading, run } = preview;
  showPreview({ name: first.name, input, isNamed, run, wide: reading.wide }, options, terminal);
  if (run.error !== null) throw new Failure('InvalidBody', run.error);
  const actions = input.id === PRICES ? findActionColumns(Object.keys(run.columns)) : [];
  if (actions.length > 0 && options.withActions !== true)
    suggestActions(actions, originNames, loading);
  if (options.yes !== true) await confirmLoad(terminal);
  for (const origin of origins) {
    try {
      const isShown = origin === first && !isRegular;
      const confirmed = isShown || isConfirmed ? preview : withoutConfirmation(preview);
      if (isRegular) await schedule(origin, confirmed.reading, loading);
      else await load(origin, readingFor(origin, confirmed), loading);
    } catch (error) {
      terminal.stderr.write(`tapedeck: ${origin.name}: ${reasonOf(error)}\n`);
      terminal.endWith(1);
    }
  }
  return actions.map((action) => action.input);
}

/** The result of a dry run, and the reading for each file. */
interface Preview {
  readonly run: DryRun;
  readonly reading: Reading;
  /** No column has the symbol: the file name is the symbol. */
  readonly isNamed: boolean;
}

/** Runs a dry run. @throws Failure if a required property has no column and no value */
async function previewOrigin(origin: Origin, { input, options }: Loading): Promise<Preview> {
  const declared = buildInputReading(input, options);
  // The preview shows a contradiction; loading after it confirms the adjustment.
  let reading: Reading = { ...declared, guess: true, confirmAdjustment: true };
  let run = await origin.dryRun(reading);
  const wide = declared.wide === undefined ? wideReading(input, reading, run) : undefined;
  if (wide !== undefined) {
    reading = wide;
    run = await origin.dryRun(reading);
  }
  const { symbol } = origin;
  const isNamed = findMissing(input, run).includes('symbol') && symbol !== undefined;
  if (isNamed) {
    reading = { ...reading, constants: { ...declared.constants, symbol } };
    run = await origin.dryRun(reading);
  }
  const lacking = findMissing(input, run);
  if (lacking.length > 0) throw missingFailure(lacking, run);
  return { run, reading: explicitReading(reading, declared, run), isNamed };
}

/** Removes the confirmation: a preview of one file does not apply to another, nor to a later run. */
function withoutConfirmation({ reading, ...preview }: Preview): Preview {
  const { confirmAdjustment: _, ...rest } = reading;
  return { ...preview, reading: rest };
}

/** Adds the symbol of the file name, if no column has the symbol. */
function readingFor({ symbol }: Origin, { isNamed, reading }: Preview): Reading {
  if (!isNamed) return reading;
  if (symbol === undefined) {
    throw new Failure('InvalidBody', 'its name is no symbol: load it separately with --symbol');
  }
  return { ...reading, constants: { ...reading.constants, symbol } };
}

async function load(origin: Origin, reading: Reading, loading: Loading): Promise<void> {
  const { call, callData, options, terminal } = loading;
  const jobId = await origin.load(reading);
  const job = await followJob(call, jobId, origin.name, options, terminal);
  if (job.recordsInvalid === 0 || options.json === true) return;
  const log = `/jobs/${CORE}/ingest/${jobId}/invalid-records-log`;
  const answer = await callData({ method: 'GET', path: log });
  const rows = parse(await text(answer.body), { from_line: 2 }) as readonly string[][];
  const print = printTo(terminal);
  for (const [, line = '', error = ''] of rows.slice(0, REJECTS_SHOWN)) {
    print(escapeControls(`rejected line ${line}: ${error}`));
  }
  const more = job.recordsInvalid - Math.min(rows.length, REJECTS_SHOWN);
  if (more > 0) print(`rejected ${more} more: GET /v1${log} has them`);
}

/** Creates a schedule that stores the column mapping: each run reads the columns the same way. */
async function schedule(
  { name, sourceId }: Origin,
  reading: Reading,
  { call, input, options, terminal }: Loading,
): Promise<void> {
  const { cron, every, json, timeZone } = options;
  const created = (await call('POST', '/ingestion-schedules', {
    ...loadMembers(options),
    name: `${input.id} from ${name}`,
    datasetId: input.id,
    dataSourceId: sourceId,
    reading,
    ...(cron === undefined ? { every } : { cron }),
    ...(timeZone === undefined ? {} : { timeZone }),
  })) as Parameters<typeof showRuns>[0];
  const print = printTo(terminal);
  const when = cron ?? `every ${every}`;
  print(
    json === true
      ? JSON.stringify(created)
      : `${input.id}: ${name} is loaded ${when} with this mapping`,
  );
  if (json !== true) await showRuns(created, call, terminal);
}
