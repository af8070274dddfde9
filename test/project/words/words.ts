// Checks comments, messages, names and documents against the vocabulary, and that no sentence of the product
// is written twice: `npm run lint:words [folder]`. With a folder, sentences are compared within it.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseTrees } from '../architecture/syntax.ts';
import { findRepeats } from './sentences.ts';
import { BARE_NAMES, NAME_PARTS, PROSE, STORED_MEMBERS } from './vocabulary.ts';

interface Finding {
  readonly path: string;
  readonly line: number;
  readonly word: string;
  readonly instead: string;
  readonly kind: 'comment' | 'message' | 'name' | 'document' | 'sentence';
}

/** Where text of others or of machines is kept as it is. */
const GENERATED_PAGE = 'api|commands|coverage|errors|market|recipes|settings|sql';
const LEFT_OUT = new RegExp(
  `^(client/operations\\.ts|docs/reference/(${GENERATED_PAGE})\\.md|test/project/words/)`,
);

const tracked = (patterns: readonly string[]): readonly string[] =>
  execFileSync('git', ['ls-files', '-z', ...patterns], { encoding: 'utf8' })
    .split('\0')
    .filter((path) => path !== '' && !LEFT_OUT.test(path));

function proseFindings(
  path: string,
  text: string,
  kind: Finding['kind'],
  lineFrom = 1,
): readonly Finding[] {
  return text.split('\n').flatMap((line, at) =>
    PROSE.filter(({ unless }) => unless?.test(line) !== true).flatMap(({ instead, pattern }) =>
      [...line.matchAll(pattern)].map(({ 0: word }) => ({
        path,
        line: lineFrom + at,
        word,
        instead,
        kind,
      })),
    ),
  );
}

/** Fenced examples and code in back-ticks are not prose. */
const withoutCode = (text: string): string =>
  text
    .replace(/^```[\s\S]*?^```$/gm, (block) => block.replace(/[^\n]/g, ' '))
    .replace(/`[^`\n]*`/g, (code) => ' '.repeat(code.length));

/** Only the comments of a source, or only its texts of several words; everything else is blank. */
function commentsOf(text: string, code: string): string {
  let comments = '';
  for (let at = 0; at < text.length; at++) {
    comments += code[at] === ' ' && text[at] !== ' ' ? text[at] : text[at] === '\n' ? '\n' : ' ';
  }
  return comments.replace(/ {2,}/g, (gap) => (gap.length > 4 ? gap : ' '));
}

function messagesOf(text: string, code: string): string {
  let messages = '';
  for (let at = 0; at < text.length; at++) {
    messages += code[at] === '·' && text[at] !== '·' ? text[at] : text[at] === '\n' ? '\n' : '  ';
  }
  // Texts of one word are names: of columns, of kinds of messages between processes, of sample data.
  const isSentence = (part: string): boolean => part.trim().includes(' ');
  return messages
    .split('\n')
    .map((line) => line.split('  ').filter(isSentence).join('  '))
    .join('\n');
}

/** `.name`, `name:`, or a name between the braces of a list. */
function isMember(line: string, index: number, name: string): boolean {
  const [before, after] = [line.slice(0, index), line.slice(index + name.length)];
  return (
    before.endsWith('.') || /^\??:/.test(after) || (/[{,] $/.test(before) && /^( }|,)/.test(after))
  );
}

function nameFindings(path: string, code: string): readonly Finding[] {
  return code.split('\n').flatMap((line, at) =>
    [...line.matchAll(/[A-Za-z_$][\w$]*/g)].flatMap(({ 0: name, index }) => {
      const isStored = STORED_MEMBERS.has(name) || STORED_MEMBERS.has(name.toLowerCase());
      if (isStored && isMember(line, index, name)) return [];
      // Parts are compared in lower case; a constant is split at its underscores alone.
      const bare = BARE_NAMES.has(name.toLowerCase()) ? ['a noun'] : [];
      const isConstant = name === name.toUpperCase();
      const parts = name.split(isConstant ? /_/ : /(?=[A-Z])|_/).map((part) => part.toLowerCase());
      const instead = [...bare, ...parts.flatMap((part) => NAME_PARTS.get(part) ?? [])];
      return instead
        .slice(0, 1)
        .map((text) => ({ path, line: at + 1, word: name, instead: text, kind: 'name' as const }));
    }),
  );
}

function sourceFindings(paths: readonly string[]): readonly Finding[] {
  const texts = new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]));
  const [sources = []] = parseTrees([texts]);
  const repeats = findRepeats(sources).flatMap(({ places: [first, ...others], sentence: word }) =>
    others.map(({ line, path }) => {
      const instead = `it once, and import it from ${first?.path}:${first?.line}`;
      return { path, line, word, instead, kind: 'sentence' as const };
    }),
  );
  const findings = sources.flatMap(({ code, path, text }) => [
    ...proseFindings(path, withoutCode(commentsOf(text, code)), 'comment'),
    ...proseFindings(path, messagesOf(text, code), 'message'),
    ...nameFindings(path, code),
  ]);
  return [...findings, ...repeats];
}

const folder = process.argv[2] ?? '';
const inFolder = (path: string): boolean => path.startsWith(folder);
const findings = [
  ...sourceFindings(tracked(['*.ts', '*.tsx']).filter(inFolder)),
  ...tracked(['*.md'])
    .filter(inFolder)
    .flatMap((path) => proseFindings(path, withoutCode(readFileSync(path, 'utf8')), 'document')),
];
if (process.argv.includes('--count')) {
  const counts = new Map<string, number>();
  for (const { kind, path } of findings) {
    const name = `${path
      .split('/')
      .slice(0, path.startsWith('test') ? 1 : 2)
      .join('/')} ${kind}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  for (const [name, count] of [...counts].sort()) process.stdout.write(`${count}\t${name}\n`);
} else {
  for (const { instead, kind, line, path, word } of findings)
    process.stdout.write(`${path}:${line} ${kind} "${word}": write ${instead}\n`);
}
process.stdout.write(`${findings.length} words and sentences to change\n`);
process.exitCode = findings.length === 0 ? 0 : 1;
