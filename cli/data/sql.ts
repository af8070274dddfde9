// `tapedeck sql`: runs a SELECT over the datasets of the first account; prints a table or bytes of a format.
import { extname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { json, text as textOfStream } from 'node:stream/consumers';
import { monotonicMs } from '../../store/base/clock.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { pluralize, describeCut, deliver, summarizeAnswer } from '../print/answerOutput.ts';
import type { TableLook } from '../print/answerTable.ts';
import { type CallData, type DataAnswer, withFirstAccount } from '../connect/dataApi.ts';
import { requireFolder } from '../connect/folderAccess.ts';
import type { Output, Terminal } from '../connect/terminal.ts';
import { withPlace } from '../print/queryPlace.ts';
import { parametersOf, queryText, FORMATS } from './sqlInput.ts';
import { formatExplanation, type SqlColumn, formatRows, formatColumns } from '../print/sqlTable.ts';
import { NO_WORKSPACE, unknownWorkspaceFailure } from '../connect/workspaceApi.ts';

export interface SqlOptions {
  readonly file?: string;
  readonly workspace?: string;
  readonly format?: string;
  readonly output?: string;
  readonly explain?: boolean;
  readonly schema?: boolean;
  readonly wide?: boolean;
  readonly maxMessages?: string;
  readonly asOf?: string;
  readonly param: readonly string[];
}

export async function answerQuery(
  query: string | undefined,
  options: SqlOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  requireFolder(settings);
  const format = chooseFormat(options, terminal);
  const parameters = parametersOf(options.param);
  const text = await queryText(query, options.file, terminal);
  await runCancellable(terminal, (signal) =>
    withFirstAccount(settings, signal, async (call) => {
      const question = await makeQuestion(text, parameters, options, call);
      if (options.schema === true || options.explain === true) {
        return describe(question, format, options, terminal);
      }
      return format === 'table'
        ? printTable(question, options, terminal)
        : passThrough(question, format, options, terminal);
    }),
  );
}

/** Exit code of a command that Ctrl-C ended. */
const CANCELLED = 130;

async function runCancellable(
  terminal: Terminal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const cancelled = new AbortController();
  const forget = terminal.onInterrupt(() => cancelled.abort());
  try {
    await work(cancelled.signal);
  } catch (error) {
    if (!cancelled.signal.aborted) throw error;
    terminal.stderr.write('tapedeck: cancelled\n');
    terminal.endWith(CANCELLED);
  } finally {
    forget();
  }
}

/** @throws Failure InvalidParameter if bytes would be written to a terminal */
function chooseFormat(
  { explain, format, output, schema }: SqlOptions,
  { stdout }: Terminal,
): string {
  const ending = extname(output ?? '').slice(1);
  const chosen = format ?? (FORMATS.includes(ending) ? ending : 'table');
  if ((explain === true || schema === true) && chosen !== 'json' && chosen !== 'table') {
    throw new Failure('InvalidParameter', '--explain and --schema print a table or json');
  }
  const isBytes = chosen === 'arrow' || chosen === 'parquet';
  if (isBytes && output === undefined && stdout.isTTY === true) {
    const how = 'name a file with --output, or redirect it';
    throw new Failure('InvalidParameter', `${chosen} can not be printed on a terminal: ${how}`);
  }
  return chosen;
}

/** Runs the query with further parameters of the route. */
type Question = (more: Readonly<Record<string, string>>) => Promise<DataAnswer>;

async function makeQuestion(
  text: string,
  parameters: object,
  { asOf, maxMessages, workspace }: SqlOptions,
  call: CallData,
): Promise<Question> {
  const place = encodeURIComponent(workspace ?? (await defaultWorkspace(call)));
  const fixed = {
    ...(asOf === undefined ? {} : { asOf }),
    ...(maxMessages === undefined ? {} : { maxMessages }),
  };
  const body = JSON.stringify({ query: text, parameters });
  return async (more) => {
    const path = `/sql-query/${place}?${new URLSearchParams({ ...fixed, ...more })}`;
    try {
      return await call({ method: 'POST', path, body });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const reason = reasonOf(error);
      const isPlace =
        reason === 'Not Found' || reason.startsWith('there is nothing that this token');
      const sentence = isPlace ? `${NO_WORKSPACE} ${place}` : reason;
      throw new Failure(error.type, withPlace(sentence, text));
    }
  };
}

async function defaultWorkspace(call: CallData): Promise<string> {
  const { body } = await call({ method: 'GET', path: '/workspaces' });
  const [first] = (await json(body)) as readonly { readonly workspace: string }[];
  if (first !== undefined) return first.workspace;
  throw unknownWorkspaceFailure();
}

async function printTable(
  question: Question,
  options: SqlOptions,
  terminal: Terminal,
): Promise<void> {
  // Request the schema first, so that the reported time excludes the start of the query process.
  const columns = (await json((await question({ schema: 'true' })).body)) as readonly SqlColumn[];
  const started = monotonicMs();
  const answer = await question({ format: 'jsonl' });
  const { lines, rows } = await formatRows(answer.body, columns, lookOf(options, terminal.stdout));
  const last = [pluralize(rows, 'row'), ...summarizeAnswer(answer, monotonicMs() - started)].join(
    ' · ',
  );
  await deliver(linesOf([...lines, last]), terminal.stdout, fileOf(options, terminal));
}

/** Returns the file for the answer, if it is not written to standard output. */
const fileOf = ({ output }: SqlOptions, { folder }: Terminal): string | undefined =>
  output === undefined ? undefined : resolve(folder, output);

function lookOf({ output, wide }: SqlOptions, stdout: Output): TableLook {
  const { columns = 0, isTTY } = stdout;
  const isShown = isTTY === true && output === undefined;
  return {
    wide: wide === true,
    columns: isShown && columns > 0 ? columns : undefined,
    colours: isShown && stdout.hasColors?.() === true,
  };
}

const linesOf = (lines: readonly string[]): Readable =>
  Readable.from([Buffer.from(lines.map((line) => `${line}\n`).join(''))]);

async function describe(
  question: Question,
  format: string,
  options: SqlOptions,
  terminal: Terminal,
): Promise<void> {
  const { schema } = options;
  const { body } = await question(schema === true ? { schema: 'true' } : { explain: 'true' });
  const answerText = await textOfStream(body);
  const tables = schema === true ? formatColumns : formatExplanation;
  const lines = linesOf(format === 'json' ? [answerText] : tables(answerText));
  await deliver(lines, terminal.stdout, fileOf(options, terminal));
}

/** Writes the bytes of the answer unchanged; notes are written to standard error. */
async function passThrough(
  question: Question,
  format: string,
  options: SqlOptions,
  terminal: Terminal,
): Promise<void> {
  const { stderr, stdout } = terminal;
  const started = monotonicMs();
  const answer = await question({ format });
  const bytes = await deliver(answer.body, stdout, fileOf(options, terminal));
  if (options.output === undefined) {
    if (format === 'json' && stdout.isTTY === true) stdout.write('\n');
    for (const cut of describeCut(answer)) stderr.write(`tapedeck: ${cut}\n`);
    return;
  }
  const summary = [
    pluralize(bytes, 'byte'),
    ...summarizeAnswer(answer, monotonicMs() - started),
  ].join(' · ');
  stdout.write(`${options.output}: ${summary}\n`);
}
