// No expression may take more than linear time: one that does stops everybody for as long as
// somebody's text is long. A checker proves it, or tries long texts.
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

/** Of one expression: a busy machine takes ten times the second that the slowest takes. */
const TIMEOUT_MS = 30_000;
/** The attempts of what automata do not decide are seeded: a verdict is the same each time. */
const OPTIONS = { timeout: TIMEOUT_MS, randomSeed: 20_260_131, incubationLimit: 5_000 };

/** What the checker can not see or decide, and why it is safe. */
const KNOWN: readonly { readonly path: string; readonly shown: string; readonly why: string }[] = [
  {
    path: 'api/auth/signing.ts',
    shown: '-HMAC-SHA256 +Credential=',
    why: 'anchored; behind each repetition comes what it does not hold; the brand is letters',
  },
  {
    path: 'cli/pipeline/recipeFile.ts',
    shown: 'pattern',
    why: 'a recipe is a file of the one who runs the command, and stops nobody else',
  },
  { path: 'cli/print/terminalText.ts', shown: 'u1100-', why: 'one character of a class' },
  {
    path: 'pipeline/values/dateFormats.ts',
    shown: 'new RegExp(',
    why: 'anchored, of a fixed length but for spaces, and no text of over 60 characters is looked at',
  },
  {
    path: 'pipeline/values/numberFormats.ts',
    shown: 'new RegExp(',
    why: 'no text of over 60 characters is looked at',
  },
  { path: 'query/sql/text/messages.ts', shown: 'KINDS.join', why: 'anchored words' },
  {
    path: 'store/base/redact.ts',
    shown: '{64}(?![0-9a-f])',
    why: 'of a fixed length; the checker tries texts, and on a busy machine takes it for a slow one',
  },
  {
    path: 'store/catalog/secrets/secrets.ts',
    shown: 'KEY_BYTES * 2',
    why: 'anchored, of a fixed length',
  },
];

const verdicts = new Map<string, string | undefined>();

/**
 * Hashes of expressions that were proved once, a line each: proving all takes the checker 20 s, and what
 * it proved it proves again. Of these a share is proved anew in each run; any other one always is.
 * `UPDATE=1 npm test -- architecture` writes the list.
 */
export const PROVED = new URL('provedExpressions.txt', import.meta.url);
const ANEW_EVERY = 20;
const asked = process.env['UPDATE'] === '1';
const proved = new Set(asked ? [] : readFileSync(PROVED, 'utf8').split('\n'));
const [turn = 0] = randomBytes(1).map((byte) => byte % ANEW_EVERY);

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 20);

/** What is wrong with an expression; undefined when nothing is. */
function fault(pattern: string, flags: string): string | undefined {
  const key = `${flags}/${pattern}`;
  const hash = hashOf(key);
  if (proved.has(hash) && Number.parseInt(hash.slice(0, 6), 16) % ANEW_EVERY !== turn) {
    return undefined;
  }
  if (!verdicts.has(key)) verdicts.set(key, faultOf(checkSync(pattern, flags, OPTIONS)));
  return verdicts.get(key);
}

/** The list that belongs to what was proved in this run. */
export function provedText(): string {
  const safe = [...verdicts].filter(([, what]) => what === undefined).map(([key]) => hashOf(key));
  return `${safe.sort().join('\n')}\n`;
}

/** How many this run had to prove that the list does not have. */
export const unlisted = (): number =>
  asked ? 0 : [...verdicts.keys()].filter((key) => !proved.has(hashOf(key))).length;

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
          expressions.flatMap(({ flags, line, pattern, shown }) => {
            const known = KNOWN.some((one) => one.path === path && shown.includes(one.shown));
            if (known) return [];
            const what =
              pattern === undefined
                ? 'is not told by the source alone; make it of literals'
                : fault(pattern, flags);
            return what === undefined ? [] : [`${path}:${line} ${shown} ${what}; ${INSTEAD}`];
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
