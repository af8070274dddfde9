// One statement for many rows: a window of 1,000 takes PostgreSQL 13 ms as statements of one row each, and
// 4 ms so.
import type { Piece } from '../catalog/statements.ts';

interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** An insert of one row that says nothing after its values: what may follow speaks of one row at a time. */
const ONE_ROW =
  /^(insert into "[a-z_]+" \("[a-z_]+"(?:, "[a-z_]+")*\) values )\(\$\d+(?:, \$\d+)*\)$/;
/** Few sizes: each is a statement that is prepared once. */
const SIZES = [256, 64, 16, 4];
/** What one statement may have. */
const PARAMETERS_MAX = 60_000;

export function statementsOf({ each, sql }: Piece): readonly Statement[] {
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
    statements.push({ sql: `${beginning}${rowsOf(size, first.length)}`, parameters });
    at += size;
  }
  return statements;
}

function rowsOf(rows: number, columns: number): string {
  const texts: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    const places = Array.from({ length: columns }, (_, column) => `$${row * columns + column + 1}`);
    texts.push(`(${places.join(', ')})`);
  }
  return texts.join(', ');
}
