// Reads the attacks from files: one block each, `=== name`, the expected outcomes, options, and the SQL
// text. README.md describes the format.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The token of the query: the owner's, or one with the right to read one dataset. */
type Asker = 'owner' | 'narrow';

export type Expectation =
  /** 400, for any reason. */
  | { readonly kind: 'refused' }
  /** 400: there is no such dataset. */
  | { readonly kind: 'missing' }
  /** 400 as above, or 401. */
  | { readonly kind: 'forbidden' }
  /** 404. */
  | { readonly kind: 'absent' }
  /** 413 or 504, with the limit's value. */
  | { readonly kind: 'limit' }
  /** 200, within all limits and without forbidden data. */
  | { readonly kind: 'harmless' }
  /** 200, for at least the price of these datasets. */
  | { readonly kind: 'priced'; readonly datasets: readonly string[] }
  | { readonly kind: 'answer'; readonly rows: unknown };

export interface Attack {
  /** `file.txt:line name`. */
  readonly name: string;
  readonly theme: string;
  /** Accepted outcomes: one of them must match. */
  readonly expected: readonly Expectation[];
  /** JSON text of the parameters. */
  readonly parameters: string | undefined;
  readonly workspace: string;
  readonly asker: Asker;
  readonly sql: string;
}

const FOLDER = import.meta.dirname;

/** Every attack of every file, in order. */
export function allAttacks(): readonly Attack[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'));
  return files
    .toSorted()
    .flatMap((name) => attacksOf(name, readFileSync(join(FOLDER, name), 'utf8')));
}

function attacksOf(file: string, text: string): readonly Attack[] {
  const theme = basename(file, '.txt');
  const [head = '', ...blocks] = text.split(/^=== /m);
  let line = head.split('\n').length;
  return blocks.map((block) => {
    const attack = attackOf(theme, `${file}:${line}`, block);
    line += block.split('\n').length - 1;
    return attack;
  });
}

function attackOf(theme: string, place: string, block: string): Attack {
  const [title = '', expectation = '', ...rest] = block.split('\n');
  const name = `${place} ${title}`;
  const options = { parameters: undefined as string | undefined, workspace: 'WS', asker: 'owner' };
  let at = 0;
  for (; ; at += 1) {
    const [, word, value = ''] = /^(with|in|as) (\S.*)$/.exec(rest[at] ?? '') ?? [];
    if (word === 'with') options.parameters = value;
    else if (word === 'in') options.workspace = value;
    else if (word === 'as') options.asker = value;
    else break;
  }
  const { parameters, workspace } = options;
  const asker = options.asker === 'narrow' ? 'narrow' : 'owner';
  const sql = generated(rest.slice(at).join('\n').replace(/\n+$/, ''));
  return {
    name,
    theme,
    expected: expectationsOf(expectation, name),
    parameters,
    workspace,
    asker,
    sql,
  };
}

/** Parses `refused | answer [{"a":1}]`: an answer is last, since its JSON may contain a bar. */
function expectationsOf(text: string, name: string): readonly Expectation[] {
  const answer = /(?:^| \| )answer (.*)$/.exec(text);
  const words = text.slice(0, answer?.index ?? text.length).split(' | ');
  const expected = words.filter((word) => word !== '').map((word) => expectationOf(word, name));
  if (answer === null) return expected;
  return [...expected, { kind: 'answer', rows: JSON.parse(answer[1] ?? '') as unknown }];
}

const PLAIN = ['refused', 'missing', 'forbidden', 'absent', 'limit', 'harmless'] as const;

function expectationOf(text: string, name: string): Expectation {
  const [word = '', ...datasets] = text.split(' ');
  if (word === 'priced' && datasets.length > 0) return { kind: 'priced', datasets };
  const kind = PLAIN.find((plain) => plain === text);
  if (kind === undefined) throw new Error(`${name}: nothing is expected by "${text}"`);
  return { kind };
}

/**
 * Expands `{{u+0041}}` to a code point, also a lone surrogate · `{{repeat 3 ab}}` to ababab ·
 * `{{list 3 |, |t#}}` to t1, t2, t3, with any character for the bars; `@` is the previous number, `&` the
 * next.
 */
const generated = (text: string): string =>
  text
    .replace(/\{\{u\+([0-9a-f]+)\}\}/g, (_, hex: string) => String.fromCodePoint(parseInt(hex, 16)))
    .replace(/\{\{repeat (\d+) ([^]*?)\}\}/g, (_, n: string, part: string) =>
      part.repeat(Number(n)),
    )
    .replace(
      /\{\{list (\d+) (.)(.*?)\2(.*?)\}\}/g,
      (_, n: string, __, between: string, item: string) =>
        Array.from({ length: Number(n) }, (___, at) => numbered(item, at + 1)).join(between),
    );

const numbered = (item: string, n: number): string =>
  item
    .replaceAll('#', String(n))
    .replaceAll('@', String(n - 1))
    .replaceAll('&', String(n + 1));
