// What is not written here, and what is written instead.
import { FOLDERS, isIn, PRODUCT, type Rule, type Tree } from './tree.ts';

interface Ban {
  readonly what: string;
  readonly instead: string;
  /** With the flag `g`. Patterns are spelled so that they do not match their own source. */
  readonly pattern: RegExp;
  readonly folders: readonly string[];
  /** The one file where it is allowed. */
  readonly home?: string;
  /** Comments and texts count too; otherwise only code does. */
  readonly everywhere?: boolean;
  readonly wrong: readonly string[];
  readonly right?: readonly string[];
}

// Marks of unfinished work, in two pieces so that this file does not contain them.
const MARKS = [
  ['TO', 'DO'],
  ['FIX', 'ME'],
  ['X', 'XX'],
  ['HA', 'CK'],
].map((two) => two.join(''));

const BANS: readonly Ban[] = [
  {
    what: 'clock',
    instead: 'take `now` or a Clock as an argument (store/base/clock.ts)',
    pattern: /\b(Date\.now|Temporal\.Now|performance\.now)\b|\bnew Date\s*(\(\s*\)|(?![\w(]))/g,
    folders: PRODUCT,
    home: 'store/base/clock.ts',
    wrong: [
      'const a = Date.now();',
      'f(new Date());',
      'f(new Date);',
      'Temporal.Now.instant();',
      'const f = performance.now;',
      "/* é */ f('🎈é', Date.now());",
    ],
    right: [
      'new Date(a);',
      "new Date('2020-01-01');",
      '// Date.now\nnew DateTime();',
      "const a = 'Date.now()';",
      "f('🎈é'); // Date.now()",
      '`${a}Date.now()${b} /* */`;',
    ],
  },
  {
    what: 'randomness',
    instead: 'use store/base/random.ts, or take it as an argument',
    pattern: /\b(Math\.random|randomBytes|randomUUID|randomInt|randomFill\w*|getRandomValues)\b/g,
    folders: PRODUCT,
    home: 'store/base/random.ts',
    wrong: [
      'Math.random();',
      "import { randomBytes } from 'node:crypto';",
      'crypto.randomUUID();',
      'crypto.getRandomValues(a);',
    ],
  },
  {
    what: 'environment',
    instead: 'declare a setting in store/base/settings/settings.ts',
    pattern: /\bprocess\s*(\?\.|\.)\s*env\b|\bprocess\[/g,
    folders: PRODUCT,
    home: 'store/base/settings/settings.ts',
    wrong: ['process.env.HOME;', 'const { HOME } = process.env;', "process['env'];"],
    right: ['process.exitCode = 1;'],
  },
  {
    what: 'console',
    instead: 'log through the logger; cli writes to process.stdout',
    pattern: /\bconsole\s*(\.|\?\.|\[)/g,
    folders: PRODUCT,
    wrong: ['console.log(1);', 'globalThis.console.error(1);'],
    right: ["import './console.ts';"],
  },
  {
    what: 'any',
    instead: 'say the type, or `unknown` and check it',
    pattern: /([:<|&,([]|=>|\b(as|keyof|extends|satisfies)\s|=\s)\s*any\b(?!\s*[.:(?])/g,
    folders: FOLDERS,
    wrong: [
      'let a: any;',
      'b as any;',
      'new Map<string, any>();',
      'type A = any;',
      'f<any>();',
      'let a: string | any;',
      'let a: Promise<any[]>;',
      'let f: () => any;',
      'let a: [any];',
    ],
    right: ['Promise.any(a);', 'AbortSignal.any([a]);', 'const a = { any: 1 };', '// any'],
  },
  {
    what: 'enum',
    instead: 'use a union of literals',
    pattern: /\benum\s+\w+\s*\{/g,
    folders: FOLDERS,
    wrong: ['enum A { B }', 'const enum A { B }'],
    right: ["const a = { enum: ['b'] };", 'f(a.enum);'],
  },
  {
    what: 'default export',
    instead: 'export it by its name',
    pattern: /\bexport\s+default\b|\bexport\s*\{[^}]*\bas\s+default\b/g,
    folders: FOLDERS,
    wrong: ['export default 1;', 'const a = 1;\nexport { a as default };'],
    right: ["import { default as a } from 'a';"],
  },
  {
    what: 'silencing of the compiler',
    instead: 'make the types true',
    pattern: /@ts-(ignore|expect-error|nocheck)\b/g,
    folders: FOLDERS,
    everywhere: true,
    wrong: [`// @ts-${'ignore'}`, `/* @ts-${'expect-error'} because */`],
  },
  {
    what: 'module augmentation',
    instead: 'pass it as an argument',
    pattern: /\bdeclare\s+(module|global)\b/g,
    folders: FOLDERS,
    wrong: ["declare module 'a' {}", 'declare global {}'],
    right: ["// declare module 'a'"],
  },
  {
    what: 'decorators',
    instead: 'call the function',
    pattern: /\bexperimental[D]ecorators\b/g,
    folders: FOLDERS,
    everywhere: true,
    wrong: [`// ${'experimental'}Decorators`],
  },
  {
    what: 'test that shuts out the others',
    instead: 'filter: npm test -- part-of-a-file-name',
    pattern: /\.only\s*\(|\bonly\s*:\s*true\b/g,
    folders: ['test'],
    wrong: ["test.only('a', () => {});", "test('a', { only: true }, () => {});"],
    right: ['readonly(a);', "const a = 'it.only(';"],
  },
  {
    what: 'mark of unfinished work',
    instead: 'do it, or write the reason into docs/decisions.md',
    pattern: new RegExp(`\\b(${MARKS.join('|')})\\b`, 'g'),
    folders: FOLDERS,
    everywhere: true,
    wrong: MARKS.map((mark) => `// ${mark}: later`),
    right: ['// hack, todo'],
  },
];

export const wordRules: readonly Rule[] = BANS.map((ban) => ({
  name: `no ${ban.what}${ban.home === undefined ? '' : ` outside ${ban.home}`}`,
  check: (tree) => violations(ban, tree),
  wrong: ban.wrong.map((text) => ({ [sampleOf(ban)]: text })),
  right: [
    ...(ban.right ?? []).map((text) => ({ [sampleOf(ban)]: text })),
    ...(ban.home === undefined ? [] : [{ [ban.home]: ban.wrong[0] ?? '' }]),
  ],
}));

function sampleOf(ban: Ban): string {
  return `${ban.folders.at(-1)}/sample.ts`;
}

function violations(ban: Ban, { sources }: Tree): readonly string[] {
  return sources
    .filter(({ path }) => isIn(path, ban.folders) && path !== ban.home)
    .flatMap(({ path, text, code }) => {
      const read = ban.everywhere === true ? text : code;
      return [...read.matchAll(ban.pattern)].map(
        ({ index, 0: found }) =>
          `${path}:${lineAt(read, index)} has \`${found.trim()}\`; ${ban.instead}`,
      );
    });
}

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;
