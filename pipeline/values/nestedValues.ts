// Spells lists and objects of Parquet as JSON. DuckDB's own spelling of a double that is no number is not
// JSON, and times that are read as timestamps without a zone need their own spelling.
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

/** How a value is spelled, if DuckDB's spelling is not exact. */
export type LeafKind = 'double' | 'instant' | 'clock' | 'zoned-clock';

/** The type of a list, an object or a value in it. */
export type NestedType =
  | { readonly kind: 'value'; readonly leaf: LeafKind | undefined }
  | { readonly kind: 'list'; readonly item: NestedType }
  | { readonly kind: 'map'; readonly value: NestedType }
  | { readonly kind: 'struct'; readonly members: readonly (readonly [string, NestedType])[] };

/**
 * Parses DuckDB's name of a nested type, such as STRUCT(a DOUBLE, "b c" VARCHAR[]).
 * @param leafAt the kind of the n-th value from the left, if it is no double
 */
export function parseNested(text: string, leafAt: (n: number) => LeafKind | undefined): NestedType {
  let at = 0;
  let leaves = 0;
  const skip = (sign: string): boolean => {
    if (!text.startsWith(sign, at)) return false;
    at += sign.length;
    return true;
  };
  const name = (): string => {
    const [spelled = ''] = /^(?:"(?:[^"]|"")*"|[^ ]+)/.exec(text.slice(at)) ?? [];
    at += spelled.length;
    skip(' ');
    return spelled.startsWith('"') ? spelled.slice(1, -1).replaceAll('""', '"') : spelled;
  };
  const plain = (): NestedType => {
    const [word = ''] = /^[A-Z0-9_ ]+(?:\([\d,]+\))?/.exec(text.slice(at)) ?? [];
    at += word.length;
    const leaf = leafAt(leaves) ?? (/^(?:DOUBLE|FLOAT)$/.test(word) ? 'double' : undefined);
    leaves += 1;
    return { kind: 'value', leaf };
  };
  const whole = (): NestedType => {
    let type: NestedType;
    if (skip('STRUCT(')) {
      const members: (readonly [string, NestedType])[] = [];
      do members.push([name(), whole()]);
      while (skip(', '));
      skip(')');
      type = { kind: 'struct', members };
    } else if (skip('MAP(')) {
      whole();
      skip(', ');
      type = { kind: 'map', value: whole() };
      skip(')');
    } else type = plain();
    while (skip('[]')) type = { kind: 'list', item: type };
    return type;
  };
  return whole();
}

function leafKinds(type: NestedType): readonly (LeafKind | undefined)[] {
  if (type.kind === 'value') return [type.leaf];
  if (type.kind === 'list') return leafKinds(type.item);
  if (type.kind === 'map') return leafKinds(type.value);
  return type.members.flatMap(([, member]) => leafKinds(member));
}

export const hasDoubles = (type: NestedType): boolean => leafKinds(type).includes('double');

/** Whether DuckDB's own spelling is JSON for each value of the type, or for each without NaN and infinity. */
const isSpelledExactly = (type: NestedType, but?: LeafKind): boolean =>
  leafKinds(type).every((leaf) => leaf === undefined || leaf === but);

/** SQL test whether a value may contain a double that is no number: a sum of such is none either. */
function mayLackNumber(value: string, type: NestedType): string {
  if (type.kind === 'list' && type.item.kind === 'value') {
    return `coalesce(NOT isfinite(list_sum(${value})), false)`;
  }
  const json = `CAST(to_json(${value}) AS VARCHAR)`;
  return `coalesce(contains(${json}, 'NaN') OR contains(${json}, 'Infinity'), false)`;
}

/** SQL test whether a value contains a double that is no number. */
export const lacksNumberTest = (value: string, type: NestedType): string =>
  `CASE WHEN ${mayLackNumber(value, type)} THEN CAST(to_json(${value}) AS VARCHAR) <>
    CAST(to_json(${spell(value, type, 0)}) AS VARCHAR) ELSE false END`;

/** The line of a load about lists or objects with such doubles. */
export const describeNoNumbers = (name: string, count: number, line: number): string => {
  const values = count === 1 ? '1 value has' : `${count} values have`;
  return `${name}: ${values} NaN or infinity inside, stored as texts; the first is in line ${line}`;
};

/** The value as JSON: NaN and infinity are the texts `NaN`, `Infinity` and `-Infinity`. */
export function nestedJson(value: string, type: NestedType): string {
  if (isSpelledExactly(type)) return `to_json(${value})`;
  const spelled = `to_json(${spell(value, type, 0)})`;
  return isSpelledExactly(type, 'double')
    ? `CASE WHEN ${mayLackNumber(value, type)} THEN ${spelled} ELSE to_json(${value}) END`
    : spelled;
}

/** A value that `to_json` spells exactly. */
function spell(value: string, type: NestedType, depth: number): string {
  if (type.kind === 'value') return spellLeaf(value, type.leaf);
  if (isSpelledExactly(type)) return value;
  const item = `item${depth}`;
  if (type.kind === 'list') {
    return `list_transform(${value}, lambda ${item}: ${spell(item, type.item, depth + 1)})`;
  }
  if (type.kind === 'map') {
    const entry = `struct_pack("key" := ${item}.key,
      "value" := ${spell(`${item}.value`, type.value, depth + 1)})`;
    return `map_from_entries(list_transform(map_entries(${value}), lambda ${item}: ${entry}))`;
  }
  const members = type.members.map(([name, member]) => {
    const extracted = `struct_extract(${value}, ${literal(name)})`;
    return `${identifier(name)} := ${spell(extracted, member, depth)}`;
  });
  return `CASE WHEN ${value} IS NOT NULL THEN struct_pack(${members.join(', ')}) END`;
}

function spellLeaf(value: string, leaf: LeafKind | undefined): string {
  if (leaf === undefined) return value;
  if (leaf !== 'double') return spellTime(value, leaf);
  return `CASE WHEN isfinite(${value}) THEN to_json(${value}) WHEN isnan(${value}) THEN '"NaN"'::JSON
    WHEN ${value} > 0 THEN '"Infinity"'::JSON WHEN ${value} < 0 THEN '"-Infinity"'::JSON END`;
}

/** The text of a time that is read as a timestamp without a zone. */
export function spellTime(value: string, leaf: 'instant' | 'clock' | 'zoned-clock'): string {
  const text = `CAST(${value} AS VARCHAR)`;
  if (leaf === 'instant') return `${text} || '+00'`;
  const clock = `substr(${text}, 12)`;
  return leaf === 'clock' ? clock : `${clock} || '+00'`;
}
