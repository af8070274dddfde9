// Inserts many rows with one statement: a window of 1,000 takes PostgreSQL 13 ms as statements of one row
// each, and 4 ms as one.
import type { BatchStatement } from '../catalog/statements.ts';

interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Matches an insert of one row without a later clause, which could refer to a single row. */
const ONE_ROW =
  /^(insert into "[a-z_]+" \("[a-z_]+"(?:, "[a-z_]+")*\) values )\(\$\d+(?:, \$\d+)*\)$/;
/** Batch sizes; few, as each is a statement that is prepared once. */
const SIZES = [256, 64, 16, 4];
/** Limit of parameters of one statement. */
const PARAMETERS_MAX = 60_000;

export function toStatements({ each, sql }: BatchStatement): readonly Statement[] {
  const [first] = each;
  const beginning = each.length === 1 ? undefined : ONE_ROW.exec(sql)?.[1];
  if (first === undefined || beginning === undefined) {
    return each.map((parameters) => ({ sql, parameters }));
  }
  const sizes = SIZES.filter((size) => size * first.length <= PARAMETERS_MAX);
  const statements: Statement[] = [];
  for (let at = 0; at < each.length;) {
    const size = sizes.find((one) => one <= each.length - at) ?? 1;
    const parameters = each.slice(at, at + size).flat();
    statements.push({ sql: `${beginning}${placeholderRows(size, first.length)}`, parameters });
    at += size;
  }
  return statements;
}

function placeholderRows(rows: number, columns: number): string {
  const texts: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    const places = Array.from({ length: columns }, (_, column) => `$${row * columns + column + 1}`);
    texts.push(`(${places.join(', ')})`);
  }
  return texts.join(', ');
}
