// Lowers columns that are not named one by one: `*` with EXCLUDE, REPLACE and RENAME, and `COLUMNS`.
import type { Columns, Expression, Star } from '../plan/selectPlan.ts';
import { type Fields, fieldsOf, listOf, take, textOf, textsOf } from '../text/tree.ts';
import { literalOf } from './literals.ts';
import type { Lowering } from './lowering.ts';

/** Characters of a pattern: no column name is longer. */
const PATTERN_MAX = 200;

/** Lowers a star or `COLUMNS` that is an item of a select list. */
export function lowerStar(node: unknown, to: Lowering): Star {
  const fieldNames = [
    'relation_name',
    'exclude_list',
    'replace_list',
    'rename_list',
    'columns',
    'expr',
  ];
  const star = take(node, fieldNames, '*');
  const replace = listOf(star['replace_list']).map((entry) => {
    const { key, value } = fieldsOf(entry);
    return { name: textOf(key), expression: to.expression(value) };
  });
  const rename = listOf(star['rename_list']).map((entry) => {
    const { key, value } = fieldsOf(entry);
    const { column } = take(key, ['column'], 'RENAME');
    return { from: textOf(column), to: textOf(value) };
  });
  return { kind: 'star', ...columnsOf(star, to), replace, rename };
}

/** Lowers a `COLUMNS` inside an expression. */
export function lowerColumns(node: unknown, fields: Fields, to: Lowering): Expression {
  if (fields['columns'] !== true) {
    to.refuse(to.at(fields), '* is allowed only in a select list, or in COLUMNS(*)');
  }
  const star = take(node, ['relation_name', 'exclude_list', 'columns', 'expr'], 'COLUMNS');
  return { kind: 'columns', ...columnsOf(star, to) };
}

function columnsOf(star: Fields, to: Lowering): Columns {
  const relation = textOf(star['relation_name']);
  return {
    relation: relation === '' ? undefined : relation,
    except: textsOf(star['exclude_list']),
    pattern: patternOf(star, to),
  };
}

function patternOf(star: Fields, to: Lowering): string | undefined {
  const { expr } = star;
  if (expr === null || expr === undefined) return undefined;
  const isLiteral = textOf(fieldsOf(expr)['class']) === 'CONSTANT';
  const literal = isLiteral ? literalOf(expr) : undefined;
  if (literal?.kind !== 'text') {
    return to.refuse(to.at(star), "COLUMNS takes * or a pattern of names, as COLUMNS('^adj')");
  }
  if (literal.value.length <= PATTERN_MAX) return literal.value;
  return to.refuse(to.at(star), `a pattern of COLUMNS has at most ${PATTERN_MAX} characters`);
}
