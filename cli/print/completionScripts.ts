// Generates the scripts with which shells complete commands and options of `tapedeck`.
import type { CommandTree, Place } from './commandTree.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export const completionScript = (shell: Shell, tree: CommandTree): string =>
  ({ bash: bashScript, zsh: zshScript, fish: fishScript })[shell](tree);

/** Quotes a text for bash and zsh. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const namesOf = (words: Place['commands']): string => words.map(({ name }) => name).join(' ');

/** Returns the paths of all commands. */
const commandPaths = ({ places }: CommandTree): string =>
  places
    .filter(({ path }) => path !== '')
    .map(({ path }) => quoted(path))
    .join('|');

/** Finds the position of the cursor: the commands before it, without options and their values. */
const findPlace = (tree: CommandTree, from: string, last: string): readonly string[] => [
  `  for ((at = ${from}; at < ${last}; at++)); do`,
  '    word="${words[at]}"',
  '    case "$word" in',
  `      ${tree.valued.join('|')}) ((at += 1)) ;;`,
  '      *) case "$place $word" in',
  `        ${commandPaths(tree)}) place="$place $word" ;;`,
  '      esac ;;',
  '    esac',
  '  done',
];

const cases = ({ places }: CommandTree): readonly string[] => [
  '  case "$place" in',
  ...places.map(
    ({ commands, options, path }) =>
      `    ${quoted(path)}) commands=${quoted(namesOf(commands))}; options=${quoted(namesOf(options))} ;;`,
  ),
  '  esac',
];

const bashScript = (tree: CommandTree): string =>
  [
    '# tapedeck: completion for bash; source it, or put it where bash-completion looks:',
    '# ~/.local/share/bash-completion/completions/tapedeck',
    '_tapedeck() {',
    '  local -a words=("${COMP_WORDS[@]}")',
    '  local at word place="" commands="" options="" now="${COMP_WORDS[COMP_CWORD]}"',
    ...findPlace(tree, '1', 'COMP_CWORD'),
    ...cases(tree),
    '  COMPREPLY=()',
    `  case "\${COMP_WORDS[COMP_CWORD-1]}" in ${tree.valued.join('|')}) return ;; esac`,
    '  if [[ "$now" == -* ]]; then',
    '    COMPREPLY=($(compgen -W "$options" -- "$now"))',
    '  else',
    '    COMPREPLY=($(compgen -W "$commands" -- "$now"))',
    '  fi',
    '}',
    'complete -o default -F _tapedeck tapedeck',
    '',
  ].join('\n');

const zshScript = (tree: CommandTree): string =>
  [
    '#compdef tapedeck',
    '# tapedeck: completion for zsh; source it after compinit, or put it as _tapedeck into $fpath',
    '_tapedeck() {',
    '  local word place="" commands="" options=""',
    '  local -i at',
    ...findPlace(tree, '2', 'CURRENT'),
    ...cases(tree),
    `  case "\${words[CURRENT-1]}" in ${tree.valued.join('|')}) _files; return ;; esac`,
    '  if [[ "$PREFIX" == -* ]]; then',
    '    compadd -- ${=options}',
    '  elif [[ -n "$commands" ]]; then',
    '    compadd -- ${=commands}',
    '  else',
    '    _files',
    '  fi',
    '}',
    'compdef _tapedeck tapedeck',
    '',
  ].join('\n');

const fishQuoted = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function fishScript(tree: CommandTree): string {
  // A path begins with a dot: fish drops an empty text.
  const placed = tree.places.filter(({ path }) => path !== '').map(({ path }) => `'.${path}'`);
  const lines = tree.places.flatMap(({ commands, options, path }) => {
    const here = `-n 'test (__tapedeck_place) = ".${path}"'`;
    return [
      ...commands.map(
        ({ help, name }) => `complete -c tapedeck ${here} -f -a ${name} -d ${fishQuoted(help)}`,
      ),
      ...options.map(({ help, name }) => {
        const value = tree.valued.includes(name) ? ' -r' : '';
        return `complete -c tapedeck ${here} -l ${name.slice(2)}${value} -d ${fishQuoted(help)}`;
      }),
    ];
  });
  return [
    '# tapedeck: completion for fish; put it into ~/.config/fish/completions/tapedeck.fish',
    'function __tapedeck_place',
    '  set -l place .',
    '  set -l skips 0',
    '  for word in (commandline -opc)[2..-1]',
    '    if test $skips = 1',
    '      set skips 0',
    '    else if contains -- $word ' + tree.valued.join(' '),
    '      set skips 1',
    `    else if contains -- "$place $word" ${placed.join(' ')}`,
    '      set place "$place $word"',
    '    end',
    '  end',
    '  echo $place',
    'end',
    ...lines,
    '',
  ].join('\n');
}
