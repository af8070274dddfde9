// Previews a load into CORE: the column mapping and the first rows.
import { createInterface } from 'node:readline/promises';
import type { Input } from '../../market/inputs/inputRow.ts';
import type { Reading } from '../../pipeline/bytes/reading.ts';
import { Failure } from '../../store/base/failure.ts';
import { tableAnswer } from '../print/answerLists.ts';
import { escapeControls } from '../print/terminalText.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';

/** Rows of a preview. */
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

interface PreviewInput {
  readonly name: string;
  readonly input: Input;
  readonly run: DryRun;
  /** The file name is the symbol. */
  readonly isNamed: boolean;
  readonly wide: Reading['wide'];
}

/** Prints the mapping, and the first rows as they will be loaded. */
export function showPreview(
  { name: file, input, isNamed, run, wide }: PreviewInput,
  options: { readonly json?: boolean },
  terminal: Terminal,
): void {
  const print = printTo(terminal);
  const { columns, constants, recordsDuplicate, recordsIngested, recordsInvalid, sample } = run;
  if (options.json === true) {
    print(JSON.stringify({ file: file, input: input.id, columns, constants, sample }));
  } else {
    const propertyNames = new Set([
      ...input.properties.map(({ name }) => name),
      ...(input.carried ?? []),
    ]);
    const rows = Object.entries(columns).map(([column, property]) => ({
      column,
      property: property ?? 'ignored',
      is:
        property === null || property.split('+').every((name) => propertyNames.has(name))
          ? ''
          : `kept, no property of ${input.id}`,
    }));
    const fixed = Object.entries(constants).map(([property, value]) => ({
      column: '',
      property,
      is: `${value} in each record${property === 'symbol' && isNamed ? ', from the name of the file' : ''}`,
    }));
    print(`${escapeControls(file)} as ${input.id}:`);
    if (wide !== undefined) print(`a column for each ${wide.names}: its cells are ${wide.values}`);
    tableAnswer([...rows, ...fixed], ['column', 'property', 'is'], {}, terminal);
    print('');
    const first = sample.slice(0, SAMPLE_ROWS);
    if (first.length > 0) tableAnswer(first, membersOf(first), {}, terminal);
    for (const note of run.log.filter((line) => NOTES.test(line))) print(escapeControls(note));
    const counts = `${recordsIngested} new records, ${recordsDuplicate} stored already or repeated`;
    print(`${counts}, ${recordsInvalid} invalid`);
    if (columns['Adj Close'] === 'fClose' && constants['isSplitAdjusted'] === undefined) {
      print(
        'If a vendor has adjusted closes, Close is often split-adjusted: then pass --adjusted.',
      );
    }
  }
}

/** Returns the properties that have a value in some row. */
const membersOf = (rows: readonly object[]): readonly string[] => [
  ...new Set(
    rows.flatMap((row) =>
      Object.entries(row)
        .filter(([, value]) => value !== null)
        .map(([name]) => name),
    ),
  ),
];

/** Requests confirmation. @throws Failure without a terminal, or if the answer is not yes */
export async function confirmLoad(terminal: Terminal): Promise<void> {
  const { stderr, stdin } = terminal;
  if (stdin.isTTY !== true) {
    throw new Failure(
      'InvalidParameter',
      'nothing is loaded: add --yes to load without confirmation',
    );
  }
  const prompt = createInterface({ input: stdin, output: stderr });
  const left = new Promise<string>((resolve) => prompt.once('close', () => resolve('')));
  // Closing the input means no.
  const answer = await Promise.race([prompt.question('Load it? [y/N] '), left]);
  prompt.close();
  if (/^y(?:es)?$/i.test(answer.trim())) return;
  throw new Failure('InvalidParameter', 'nothing is loaded; --map sets the property of a column');
}
