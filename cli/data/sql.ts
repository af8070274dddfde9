// `tapedeck sql`: a SELECT over the datasets of the first account, as a table or as the bytes of a format.
import { extname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { json, text as textOfStream } from 'node:stream/consumers';
import { monotonicMs } from '../../store/base/clock.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { counted, cutOf, deliver, endOf } from '../print/answerOutput.ts';
import type { TableLook } from '../print/answerTable.ts';
import { type AskData, type DataAnswer, withFirstAccount } from '../reach/dataApi.ts';
import { refuseNoFolder } from '../reach/folderAccess.ts';
import type { Output, Terminal } from '../reach/terminal.ts';
import { withPlace } from '../print/queryPlace.ts';
import { parametersOf, queryText, FORMATS } from './sqlInput.ts';
import { explained, type SqlColumn, tableOf, tableOfColumns } from '../print/sqlTable.ts';

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
  refuseNoFolder(settings);
  const format = formatOf(options, terminal);
  const parameters = parametersOf(options.param);
  const text = await queryText(query, options.file, terminal);
  await cancellable(terminal, (signal) =>
    withFirstAccount(settings, signal, async (ask) => {
      const question = await questionOf(text, parameters, options, ask);
      if (options.schema === true || options.explain === true) {
        return describe(question, format, options, terminal);
      }
      return format === 'table'
        ? draw(question, options, terminal)
        : pass(question, format, options, terminal);
    }),
  );
}

/** What a shell answers for a command that Ctrl-C ended. */
const CANCELLED = 130;

async function cancellable(
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

/** @throws Failure InvalidParameter where bytes would go to a terminal. */
function formatOf({ explain, format, output, schema }: SqlOptions, { stdout }: Terminal): string {
  const ending = extname(output ?? '').slice(1);
  const wanted = format ?? (FORMATS.includes(ending) ? ending : 'table');
  if ((explain === true || schema === true) && wanted !== 'json' && wanted !== 'table') {
    throw new Failure('InvalidParameter', 'what --explain and --schema tell is a table or json');
  }
  const isBytes = wanted === 'arrow' || wanted === 'parquet';
  if (isBytes && output === undefined && stdout.isTTY === true) {
    const how = 'name a file with --output, or redirect it';
    throw new Failure('InvalidParameter', `${wanted} is nothing for a terminal: ${how}`);
  }
  return wanted;
}

/** Asks the query with further parameters of the route. */
type Question = (more: Readonly<Record<string, string>>) => Promise<DataAnswer>;

async function questionOf(
  text: string,
  parameters: object,
  { asOf, maxMessages, workspace }: SqlOptions,
  ask: AskData,
): Promise<Question> {
  const place = encodeURIComponent(workspace ?? (await defaultWorkspace(ask)));
  const known = {
    ...(asOf === undefined ? {} : { asOf }),
    ...(maxMessages === undefined ? {} : { maxMessages }),
  };
  const body = JSON.stringify({ query: text, parameters });
  return async (more) => {
    const path = `/sql-query/${place}?${new URLSearchParams({ ...known, ...more })}`;
    try {
      return await ask({ method: 'POST', path, body });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const told = reasonOf(error);
      const isPlace = told === 'Not Found' || told.startsWith('there is nothing that this token');
      const sentence = isPlace ? `there is no workspace ${place}` : told;
      throw new Failure(error.type, withPlace(sentence, text));
    }
  };
}

async function defaultWorkspace(ask: AskData): Promise<string> {
  const { body } = await ask({ method: 'GET', path: '/workspaces' });
  const [first] = (await json(body)) as readonly { readonly workspace: string }[];
  if (first !== undefined) return first.workspace;
  throw new Failure('NotFound', 'no such workspace: tapedeck workspace create NAME makes one');
}

async function draw(question: Question, options: SqlOptions, terminal: Terminal): Promise<void> {
  // First, so that the time told is that of the answer, not of the start of its process.
  const columns = (await json((await question({ schema: 'true' })).body)) as readonly SqlColumn[];
  const started = monotonicMs();
  const answer = await question({ format: 'jsonl' });
  const { lines, rows } = await tableOf(answer.body, columns, lookOf(options, terminal.stdout));
  const last = [counted(rows, 'row'), ...endOf(answer, monotonicMs() - started)].join(' · ');
  await deliver(linesOf([...lines, last]), terminal.stdout, fileOf(options, terminal));
}

/** Where the answer goes instead of the standard output. */
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
  const told = await textOfStream(body);
  const tables = schema === true ? tableOfColumns : explained;
  const lines = linesOf(format === 'json' ? [told] : tables(told));
  await deliver(lines, terminal.stdout, fileOf(options, terminal));
}

/** The bytes of the answer as they are; what else there is to say goes beside them. */
async function pass(
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
    for (const cut of cutOf(answer)) stderr.write(`tapedeck: ${cut}\n`);
    return;
  }
  const said = [counted(bytes, 'byte'), ...endOf(answer, monotonicMs() - started)].join(' · ');
  stdout.write(`${options.output}: ${said}\n`);
}
