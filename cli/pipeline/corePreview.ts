// What a load into CORE would take each column of a file for, shown to a person before it is done.
import { createInterface } from 'node:readline/promises';
import type { Input } from '../../market/inputs/inputRow.ts';
import type { Reading } from '../../pipeline/bytes/reading.ts';
import { Failure } from '../../store/base/failure.ts';
import { tableAnswer } from '../print/answerLists.ts';
import { harmless } from '../print/terminalText.ts';
import { sayTo, type Terminal } from '../reach/terminal.ts';

/** Rows that are shown of a file as they will be loaded. */
const SAMPLE_ROWS = 5;

/** Lines of the log that a person should read before the load. */
const NOTES = /^(?:note|warning): /;

/** Members of a dry run's answer. */
export interface DryRun {
  readonly error: string | null;
  readonly columns: Readonly<Record<string, string | null>>;
  readonly constants: Readonly<Record<string, string>>;
  readonly sample: readonly object[];
  readonly log: readonly string[];
  readonly recordsIngested: number;
  readonly recordsDuplicate: number;
  readonly recordsInvalid: number;
}

interface Shown {
  readonly name: string;
  readonly input: Input;
  readonly run: DryRun;
  /** The symbol is the file's name. */
  readonly isNamed: boolean;
  readonly wide: Reading['wide'];
}

/** The mapping, and the first rows as they will be loaded. */
export function show(
  { name: file, input, isNamed, run, wide }: Shown,
  options: { readonly json?: boolean },
  terminal: Terminal,
): void {
  const say = sayTo(terminal);
  const { columns, constants, recordsDuplicate, recordsIngested, recordsInvalid, sample } = run;
  if (options.json === true) {
    say(JSON.stringify({ file: file, input: input.id, columns, constants, sample }));
  } else {
    const known = new Set([...input.properties.map(({ name }) => name), ...(input.carried ?? [])]);
    const rows = Object.entries(columns).map(([column, property]) => ({
      column,
      property: property ?? 'left out',
      is:
        property === null || property.split('+').every((name) => known.has(name))
          ? ''
          : `kept, no property of ${input.id}`,
    }));
    const fixed = Object.entries(constants).map(([property, value]) => ({
      column: '',
      property,
      is: `${value} in each record${property === 'symbol' && isNamed ? ', from the name of the file' : ''}`,
    }));
    say(`${harmless(file)} as ${input.id}:`);
    if (wide !== undefined) say(`a column for each ${wide.names}: its cells are ${wide.values}`);
    tableAnswer([...rows, ...fixed], ['column', 'property', 'is'], {}, terminal);
    say('');
    const first = sample.slice(0, SAMPLE_ROWS);
    if (first.length > 0) tableAnswer(first, membersOf(first), {}, terminal);
    for (const note of run.log.filter((line) => NOTES.test(line))) say(harmless(note));
    const counts = `${recordsIngested} new records, ${recordsDuplicate} stored already or repeated`;
    say(`${counts}, ${recordsInvalid} invalid`);
    if (columns['Adj Close'] === 'fClose' && constants['isSplitAdjusted'] === undefined) {
      say(
        'Where a vendor has adjusted closes, Close is often without splits: then say --adjusted.',
      );
    }
  }
}

/** Properties that one of the rows has a value of. */
const membersOf = (rows: readonly object[]): readonly string[] => [
  ...new Set(
    rows.flatMap((row) =>
      Object.entries(row)
        .filter(([, value]) => value !== null)
        .map(([name]) => name),
    ),
  ),
];

/** @throws Failure where nobody can be asked, or who was asked says no. */
export async function confirm(terminal: Terminal): Promise<void> {
  const { stderr, stdin } = terminal;
  if (stdin.isTTY !== true) {
    throw new Failure('InvalidParameter', 'nothing is loaded: add --yes to load without asking');
  }
  const asking = createInterface({ input: stdin, output: stderr });
  const left = new Promise<string>((resolve) => asking.once('close', () => resolve('')));
  // Who closes the input says no.
  const answer = await Promise.race([asking.question('Load it so? [y/N] '), left]);
  asking.close();
  if (/^y(?:es)?$/i.test(answer.trim())) return;
  throw new Failure('InvalidParameter', 'nothing is loaded; --map says what a column is');
}
