// Reads the tree of a statement that DuckDB's parser returns (json_serialize_sql). Deny by default: each
// node is read with its known fields, and any other must be empty.
import { lookupTable } from '../../../store/base/lookupTable.ts';
import { Failure } from '../../../store/base/failure.ts';
import { ONE_QUERY, toUserPlace, type Spelled } from './spelling.ts';
import { subsetRule, refuseAt } from './tokens.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** @throws Failure InvalidParameter with DuckDB's sentence and the place in the user's text. */
export function readStatement(json: string, spelled: Spelled): Fields {
  // DuckDB writes nothing where its message, which has a part of the text, would end within a character.
  if (json === '') refuseAt(spelled.source, undefined, 'syntax error');
  const tree = parseTree(json);
  if (tree['error'] === true) refuseText(tree, spelled);
  const statements = listOf(tree['statements']);
  if (statements.length !== 1) throw new Failure('InvalidParameter', `"sqlQuery": ${ONE_QUERY}`);
  return take(statements[0], ['node', 'named_param_map'], 'statement');
}

const TOO_MUCH = /"value":-?(?:Infinity|NaN)/;

/** Parses integers above 2^53, of which the tree has some, as bigint, so that nothing is rounded. */
function parseTree(json: string): Fields {
  if (TOO_MUCH.test(json)) throw doubleFailure();
  if (!/\d{16}/.test(json)) return fieldsOf(JSON.parse(json));
  const exact = (
    _key: string,
    value: unknown,
    { source }: { readonly source?: string },
  ): unknown =>
    typeof value === 'number' && /^-?\d{16,}$/.test(source ?? '') ? BigInt(source ?? '') : value;
  return fieldsOf((JSON.parse as (text: string, reviver: typeof exact) => unknown)(json, exact));
}

export const doubleFailure = (): Failure =>
  new Failure('InvalidParameter', '"sqlQuery" has a number beyond those of DOUBLE');

function refuseText(tree: Fields, spelled: Spelled): never {
  const message = textOf(tree['error_message']);
  if (/Only SELECT statements/i.test(message)) {
    throw new Failure('InvalidParameter', '"sqlQuery": only SELECT is allowed');
  }
  const position = Number(tree['position'] ?? NaN);
  const at = toUserPlace(spelled, Number.isNaN(position) ? undefined : position);
  return refuseAt(spelled.source, at, firstLine(message));
}

const firstLine = (message: string): string => message.split('\n', 1)[0] ?? message;

/**
 * Returns the fields of a node that its reader knows; any other must be neutral: null, false, '' or empty.
 * @throws Failure InvalidParameter for a field with another value.
 */
export function take(node: unknown, knownFields: readonly string[], what: string): Fields {
  const fields = fieldsOf(node);
  for (const [name, value] of Object.entries(fields)) {
    if (knownFields.includes(name) || name === 'query_location' || isNeutral(value)) continue;
    if (name === 'class' || name === 'type') continue;
    const meaning = MEANINGS[name] ?? `${name} of ${what}`;
    throw new Failure('InvalidParameter', `"sqlQuery": ${subsetRule(meaning)}`);
  }
  return fields;
}

const MEANINGS = lookupTable<string>({
  sample: 'sampling',
  at_clause: 'AT (time travel; use the parameter asOf)',
  replace_list: 'REPLACE in COLUMNS',
  rename_list: 'RENAME in COLUMNS',
  catalog_name: 'a name of three parts',
  alias: 'a named argument',
});

function isNeutral(value: unknown): boolean {
  if (value === null || value === '' || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object') return false;
  return Object.entries(value).every(
    ([name, inner]) => isNeutral(inner) || (name === 'type' && inner === 'ORDER_MODIFIER'),
  );
}

export function fieldsOf(node: unknown): Fields {
  if (typeof node === 'object' && node !== null && !Array.isArray(node)) return node as Fields;
  throw formFailure();
}

export const listOf = (value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  if (value === undefined || value === null) return [];
  throw formFailure();
};

const formFailure = (): Failure =>
  new Failure('InvalidParameter', subsetRule('"sqlQuery" has a form that'));

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const textsOf = (value: unknown): readonly string[] => listOf(value).map(textOf);

/** @throws Failure InvalidParameter for a value that is no member of the list. */
export function oneOf<T>(value: unknown, allowed: ReadonlyMap<string, T>, what: string): T {
  const item = typeof value === 'string' ? allowed.get(value) : undefined;
  if (item !== undefined) return item;
  throw new Failure('InvalidParameter', `"sqlQuery": ${subsetRule(what)}`);
}
