// No expression may take more than linear time: a slow one blocks every caller while it matches one caller's
// long text. A checker proves it, or tries long texts.
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isIn, PRODUCT, type Rule } from './tree.ts';

type Check = (pattern: string, flags: string, options: object) => Verdict;
interface Verdict {
  readonly status: 'safe' | 'vulnerable' | 'unknown';
  readonly attack?: { readonly pattern: string };
}

// The package's entry would start a native program; this is the same checker without one.
const load = createRequire(import.meta.url);
const { checkSync } = load('recheck/lib/browser.js') as { readonly checkSync: Check };

/** Timeout of one expression: the slowest takes a second, and ten on a busy machine. */
const TIMEOUT_MS = 30_000;
/** Attempts at expressions that automata cannot decide are seeded: a verdict is the same each time. */
const OPTIONS = { timeout: TIMEOUT_MS, randomSeed: 20_260_131, incubationLimit: 5_000 };

/** Expressions that the checker cannot see or decide, and why they are safe. */
const EXCEPTIONS: readonly {
  readonly path: string;
  readonly excerpt: string;
  readonly why: string;
}[] = [
  {
    path: 'api/auth/signing.ts',
    excerpt: '-HMAC-SHA256 +Credential=',
    why: 'anchored; a character outside of each repetition follows it; the brand is letters',
  },
  {
    path: 'cli/pipeline/recipeFile.ts',
    excerpt: 'pattern',
    why: 'a recipe is a file of the user who runs the command, and blocks nobody else',
  },
  { path: 'cli/print/terminalText.ts', excerpt: 'u1100-', why: 'one character of a class' },
  {
    path: 'pipeline/values/dateFormats.ts',
    excerpt: 'new RegExp(',
    why: 'anchored, fixed length except for spaces, and no text of over 60 characters is matched',
  },
  {
    path: 'pipeline/values/numberFormats.ts',
    excerpt: 'new RegExp(',
    why: 'no text of over 60 characters is matched',
  },
  { path: 'query/sql/text/messages.ts', excerpt: 'KINDS.join', why: 'anchored words' },
  {
    path: 'store/base/redact.ts',
    excerpt: '{64}(?![0-9a-f])',
    why: 'of a fixed length; the checker tries texts, and reports it as slow on a busy machine',
  },
  {
    path: 'store/catalog/secrets/secrets.ts',
    excerpt: 'KEY_BYTES * 2',
    why: 'anchored, of a fixed length',
  },
];

const verdicts = new Map<string, string | undefined>();

/**
 * Hashes of expressions that were proved once, one line each: proving all takes the checker 20 s, and always
 * has the same result. A share of them is proved again in each run; every other expression always is.
 * `UPDATE=1 npm test -- architecture` writes the list.
 */
export const PROVED = new URL('provedExpressions.txt', import.meta.url);
const ANEW_EVERY = 20;
const isUpdate = process.env['UPDATE'] === '1';
const proved = new Set(isUpdate ? [] : readFileSync(PROVED, 'utf8').split('\n'));
const [turn = 0] = randomBytes(1).map((byte) => byte % ANEW_EVERY);

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 20);

/** The fault of an expression; undefined if it has none. */
function fault(pattern: string, flags: string): string | undefined {
  const key = `${flags}/${pattern}`;
  const hash = hashOf(key);
  if (proved.has(hash) && Number.parseInt(hash.slice(0, 6), 16) % ANEW_EVERY !== turn) {
    return undefined;
  }
  if (!verdicts.has(key)) verdicts.set(key, faultOf(checkSync(pattern, flags, OPTIONS)));
  return verdicts.get(key);
}

/** The list of expressions that were proved in this run. */
export function provedText(): string {
  const safe = [...verdicts].filter(([, what]) => what === undefined).map(([key]) => hashOf(key));
  return `${safe.sort().join('\n')}\n`;
}

/** The number of expressions of this run that are not in the list. */
export const unlisted = (): number =>
  isUpdate ? 0 : [...verdicts.keys()].filter((key) => !proved.has(hashOf(key))).length;

function faultOf({ attack, status }: Verdict): string | undefined {
  if (status === 'safe') return undefined;
  if (status === 'unknown') return 'could not be decided';
  return `takes more than linear time, for ${attack?.pattern.slice(0, 80) ?? 'some text'}`;
}

const INSTEAD = 'spell it so that no text is read again, or scan with indexOf';

export const expressionRules: readonly Rule[] = [
  {
    name: 'regular expressions take linear time',
    check: ({ sources }) =>
      sources
        .filter(({ path }) => isIn(path, PRODUCT))
        .flatMap(({ expressions, path }) =>
          expressions.flatMap(({ flags, line, pattern, excerpt }) => {
            const isKnown = EXCEPTIONS.some(
              (one) => one.path === path && excerpt.includes(one.excerpt),
            );
            if (isKnown) return [];
            const what =
              pattern === undefined
                ? 'is not constant in the source; build it from literals'
                : fault(pattern, flags);
            return what === undefined ? [] : [`${path}:${line} ${excerpt} ${what}; ${INSTEAD}`];
          }),
        ),
    wrong: [
      { 'api/a.ts': 'export const a = /^(?:a|a)*$/;' },
      { 'api/a.ts': String.raw`export const a = /\s+$/;` },
      { 'api/a.ts': "const A = '[0-9]+[.]?[0-9]*'; new RegExp(`^${A}$`);" },
      { 'api/a.ts': 'export const a = (b: string) => new RegExp(b);' },
      { 'api/a.ts': "Type.String({ pattern: '^(a+)+$' });" },
    ],
    right: [
      { 'api/a.ts': String.raw`export const a = /^\d+(?:\.\d*)?$/;` },
      { 'api/a.ts': "const A = '[a-z]{1,9}'; new RegExp(`^${A}$`, 'i');" },
      { 'api/a.ts': "Type.String({ pattern: '^[a-z]+$' });" },
      { 'test/a.ts': 'export const a = /^(?:a|a)*$/;' },
    ],
  },
];
