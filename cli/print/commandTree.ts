// Converts the declared commands to a tree for shell completion: the words allowed at each position.
import type { Command, Option } from 'commander';

interface Word {
  readonly name: string;
  readonly help: string;
}

export interface Place {
  /** The commands before the position: `` at the beginning, ` source`, ` source add`. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly Word[];
}

export interface CommandTree {
  readonly places: readonly Place[];
  /** Options with a value. */
  readonly valued: readonly string[];
}

const HELP: Word = { name: '--help', help: 'display help for command' };
const VERSION: Word = { name: '--version', help: 'output the version number' };

export function buildCommandTree(root: Command): CommandTree {
  const places = [...placesOf(root, '', [])];
  const all = [root, ...below(root)].flatMap(({ options }) => options);
  const takes = new Set(all.filter(takesValue).flatMap(namesOf));
  const alone = new Set(all.filter((option) => !takesValue(option)).flatMap(namesOf));
  return { places, valued: [...takes].filter((name) => !alone.has(name)).toSorted() };
}

const below = (command: Command): readonly Command[] =>
  command.commands.flatMap((one) => [one, ...below(one)]);

function* placesOf(command: Command, path: string, above: readonly Word[]): Generator<Place> {
  const own = command.options.flatMap((option) =>
    namesOf(option).map((name) => ({ name, help: option.description })),
  );
  // Options of the program may also follow a command.
  const shared = path === '' ? own.filter(({ name }) => name !== VERSION.name) : above;
  const options = [...own, ...(path === '' ? [] : above), HELP];
  const commands = command.commands.map((one) => ({ name: one.name(), help: one.description() }));
  yield { path, commands, options: unique(options) };
  for (const one of command.commands) yield* placesOf(one, `${path} ${one.name()}`, shared);
}

const unique = (words: readonly Word[]): readonly Word[] => [
  ...new Map(words.map((word) => [word.name, word])).values(),
];

const takesValue = ({ required }: Option): boolean => required;

const namesOf = ({ long }: Option): readonly string[] =>
  long === undefined || long === null ? [] : [long];
