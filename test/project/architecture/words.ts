// Constructs that are not used in this repository, and their replacements.
import { FOLDERS, isIn, PRODUCT, type Rule, type Tree } from './tree.ts';

interface Ban {
  readonly what: string;
  readonly instead: string;
  /** With the flag `g`. Patterns are spelled so that they do not match their own source. */
  readonly pattern: RegExp;
  readonly folders: readonly string[];
  /** The only file where it is allowed. */
  readonly home?: string;
  /** Comments and texts count too; otherwise only code does. */
  readonly everywhere?: boolean;
  readonly wrong: readonly string[];
  readonly right?: readonly string[];
}

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
    what: 'module augmentation',
    instead: 'pass it as an argument',
    pattern: /\bdeclare\s+(module|global)\b/g,
    folders: FOLDERS,
    wrong: ["declare module 'a' {}", 'declare global {}'],
    right: ["// declare module 'a'"],
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
        ({ index, 0: match }) =>
          `${path}:${lineAt(read, index)} has \`${match.trim()}\`; ${ban.instead}`,
      );
    });
}

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;
