// docs/reference/commands.md: the command line as commander parses it.
import type { Command } from 'commander';
import { program } from '../../cli/program.ts';
import { processTerminal } from '../../cli/connect/terminal.ts';

const INTRODUCTION = `# The command line

Generated from the commands themselves by \`npm run docs\`; do not edit.

In a clone the program is \`npx tapedeck\`; where the package is installed it is \`tapedeck\`. A command
works on the data folder \`TAPEDECK_DATA\` (\`./data\` by default), through the running server if there is
one. [Settings](settings.md) lists the other settings. Results go to standard output, errors to standard
error. The exit code is 0, or 1 if the command failed. With \`--json\` each line of a result is a JSON
value.
`;

/** A command that runs: `recipe add`, and not `recipe`. */
interface RunnableCommand {
  /** Its names from the root down: `tapedeck recipe add`. */
  readonly name: string;
  readonly command: Command;
}

/** Every command that runs, in the order of the help. */
export function runnableCommands(): readonly RunnableCommand[] {
  const noSettings = (): never => {
    throw new Error('Only a command that runs reads settings.');
  };
  const root = program(noSettings, processTerminal());
  return root.commands.flatMap((command) => below(command, root.name()));
}

function below(command: Command, parent: string): readonly RunnableCommand[] {
  const name = `${parent} ${command.name()}`;
  if (command.commands.length === 0) return [{ name, command }];
  return command.commands.flatMap((child) => below(child, name));
}

/** The text of docs/reference/commands.md. */
export function commandsPage(): string {
  const all = runnableCommands();
  const rows = all.map(
    ({ command, name }) => `| [\`${name}\`](#${anchorOf(name)}) | ${cell(command.description())} |`,
  );
  return [
    INTRODUCTION,
    '| command | purpose |',
    '| --- | --- |',
    ...rows,
    '',
    ...all.flatMap(commandLines),
  ].join('\n');
}

function commandLines({ command, name }: RunnableCommand): readonly string[] {
  const help = command.createHelp();
  const options = help
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help')
    .map((option) => {
      const must = option.mandatory ? 'required: ' : '';
      return `| \`${cell(option.flags)}\` | ${must}${cell(help.optionDescription(option))} |`;
    });
  const table =
    options.length === 0 ? [] : ['| option | meaning |', '| --- | --- |', ...options, ''];
  const usage = command.usage().replace(/^\[options\] ?/, '');
  return [
    `## ${name}`,
    '',
    `\`${[name, usage, options.length === 0 ? '' : '[options]'].filter(Boolean).join(' ')}\``,
    '',
    sentence(command.description()),
    '',
    ...table,
  ];
}

/** The anchor that renderers of Markdown give a heading. */
const anchorOf = (heading: string): string => heading.replaceAll(' ', '-');

/** In a table a bar ends a cell, within code too. */
const cell = (text: string): string => text.replaceAll('|', '\\|');

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
