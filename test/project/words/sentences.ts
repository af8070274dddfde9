// Finds sentences that the product writes more than once: errors, reasons and notes. Each belongs in one
// place, where its rule is checked, so that a new wording is one change.
import type { Source } from '../architecture/syntax.ts';
import { isIn, PRODUCT } from '../architecture/tree.ts';

type Code = Pick<Source, 'path' | 'text' | 'code'>;

interface Repeat {
  readonly sentence: string;
  /** In the order of the files. */
  readonly places: readonly { readonly path: string; readonly line: number }[];
}

/** A literal, or a sum of literals; `{}` replaces each value in it. */
interface Literal {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The console runs in a browser and cannot import the sentences of the server. */
const LAYERS = PRODUCT.filter((layer) => layer !== 'console');

/** Tables of descriptions: options of commands, columns of inputs, functions of SQL. */
const DESCRIPTIONS =
  /^(cli\/(.*Commands|data\/readingOptions)\.ts$|market\/inputs\/|query\/sql\/functions\/)/;
/** The code before a text that describes the interface. */
const DESCRIBING_MEMBER = /\b(description|help|summary|title):\s*$/;
const MEMBER_COLUMNS = 40;
const SQL =
  /^(alter|create|drop) (index|schema|table)\b|^(delete from|insert into|select\b.*\bfrom)\b/is;

const WORDS_MIN = 4;
/** Shorter clauses, such as "if it is a record", are common phrases. */
const CLAUSE_WORDS_MIN = 5;
const LOWER_CASE_MIN = 3;
const WORD = /^[`"'(]?[A-Za-z][A-Za-z'-]*[`"',.:;)]*$/;

/** Finds the sentences and clauses of all sources that have several places, in the order of their files. */
export function findRepeats(sources: readonly Code[]): readonly Repeat[] {
  const all = sources
    .filter(isChecked)
    .flatMap((source) =>
      findLiterals(source).flatMap(({ start, text }) =>
        [...findSentences(text)].map((sentence) => ({ sentence, source, start })),
      ),
    );
  return [...Map.groupBy(all, ({ sentence }) => sentence)].flatMap(([sentence, found]) => {
    if (found.length === 1) return [];
    const places = found.map(({ source: { path, text }, start }) => ({
      path,
      line: text.slice(0, start).split('\n').length,
    }));
    return [{ sentence, places }];
  });
}

const isChecked = ({ path }: Code): boolean => isIn(path, LAYERS) && !DESCRIPTIONS.test(path);

/** A literal in masked code, whose inside is middle dots; the last three are parts of a template. */
const PART = /'·*'|"·*"|`·*`|`·+\{|\}·+\{|\}·*`/g;

function findLiterals({ code, text }: Code): readonly Literal[] {
  const literals: Literal[] = [];
  /** Templates whose values are being read. */
  const open: Literal[] = [];
  for (const { 0: part, index: start } of code.matchAll(PART)) {
    const end = start + part.length;
    const hasValue = part.endsWith('{');
    const inside = text.slice(start + 1, end - (hasValue ? 2 : 1)).replace(/\\(['"`])/g, '$1');
    const head = part.startsWith('}') ? open.pop() : undefined;
    const literal: Literal =
      head === undefined
        ? { start, end, text: inside }
        : { start: head.start, end, text: `${head.text}{}${inside}` };
    const before = literals.at(-1);
    if (hasValue) open.push(literal);
    else if (before !== undefined && /^\s*\+\s*$/.test(code.slice(before.end, literal.start)))
      literals.splice(-1, 1, { start: before.start, end, text: before.text + literal.text });
    else literals.push(literal);
  }
  return literals.filter(
    ({ start }) => !DESCRIBING_MEMBER.test(code.slice(Math.max(0, start - MEMBER_COLUMNS), start)),
  );
}

/** Returns the text itself and its clauses, which end at values, colons, semicolons and full stops. */
function findSentences(text: string): ReadonlySet<string> {
  if (SQL.test(text)) return new Set();
  const clauses = text.split(/\{\}|[.:;] |\n|\\n/).map(trim);
  return new Set([
    ...[trim(text)].filter((whole) => hasWords(whole, WORDS_MIN)),
    ...clauses.filter((clause) => hasWords(clause, CLAUSE_WORDS_MIN)),
  ]);
}

const trim = (text: string): string => text.replace(/^(?:\{\}|[\s.,:;])+|(?:\{\}|[\s.,:;])+$/g, '');

function hasWords(text: string, least: number): boolean {
  const words = text.split(/\s+/).filter((word) => WORD.test(word));
  const lowerCase = words.filter((word) => word === word.toLowerCase());
  return words.length >= least && lowerCase.length >= LOWER_CASE_MIN;
}
