// The sources of a random SELECT: datasets, derived tables, common table expressions, VALUES, and joins of
// them. Each has columns that distinguish its rows, so that an order over them is total.
import type { Seeded } from '../../../soak/crash/rounds/seeded.ts';
import { condition, type Field, literal, type Plain, type Scope } from './randomExpressions.ts';
import { SHELVES } from '../shelves.ts';

export interface Source {
  /** As it is written behind FROM. */
  readonly sql: string;
  readonly fields: readonly Field[];
  /** Rows that are equal in these are equal in all. */
  readonly keys: readonly string[];
  /** No two rows are equal. */
  readonly unique: boolean;
}

export interface NamedColumn {
  readonly name: string;
  readonly kind: Plain;
}

/** A query or a common table expression by its name, and its columns. */
export interface Derived {
  readonly sql: string;
  readonly columns: readonly NamedColumn[];
}

const KEYS: Readonly<Record<string, readonly string[]>> = {
  COMPANIES: ['symbol'],
  PRICES: ['symbol', 'date'],
  QUOTES: ['symbol', 'stamp'],
  TRADES: ['id'],
};

/** Values of JSON properties, as columns of other kinds. */
const INSIDE: Readonly<Record<string, readonly Field[]>> = {
  COMPANIES: [
    { sql: `extra->>'ceo'`, kind: 'text' },
    { sql: `extra->>'$.hq.city'`, kind: 'text' },
  ],
};

export const DATASETS = ['COMPANIES', 'PRICES', 'QUOTES', 'TRADES'] as const;
type Dataset = (typeof DATASETS)[number];

export function datasetSource(random: Seeded, id: Dataset, alias: string): Source {
  const columns = SHELVES.find((shelf) => shelf.id === id)?.columns ?? [];
  const inside = INSIDE[id] ?? [];
  const fields = [
    ...columns.flatMap(({ kind, name }) =>
      kind === 'json' ? [] : [{ sql: `${alias}.${spelled(random, name)}`, kind }],
    ),
    ...inside.map(({ kind, sql }) => ({ sql: `(${alias}.${sql})`, kind })),
  ];
  const name = random.pick([id, id, id.toLowerCase(), `\`${id}\``]);
  const keys = (KEYS[id] ?? []).map((key) => `${alias}.${key}`);
  return { sql: `${name} ${random.pick(['', 'AS '])}${alias}`, fields, keys, unique: true };
}

/** Names mean the same in any case, and in back-ticks. */
const spelled = (random: Seeded, name: string): string =>
  random.chance(0.1) ? random.pick([`\`${name}\``, name.toUpperCase()]) : name;

export function derivedSource({ columns, sql }: Derived, alias: string): Source {
  const fields = columns.map(({ kind, name }) => ({ sql: `${alias}.${name}`, kind }));
  const keys = fields.map((field) => field.sql);
  return { sql: `${sql} AS ${alias}`, fields, keys, unique: false };
}

export function valuesSource(random: Seeded, alias: string): Source {
  const kinds = [
    random.pick(['text', 'integer'] as const),
    random.pick(['date', 'number'] as const),
  ];
  const rows = Array.from({ length: random.between(1, 4) }, () => {
    const cells = kinds.map((kind) => (random.chance(0.1) ? 'NULL' : literal(random, kind)));
    return `(${cells.map((cell, at) => typed(cell, kinds[at])).join(', ')})`;
  });
  const columns = kinds.map((kind, at): NamedColumn => ({ name: `v${at + 1}`, kind }));
  const names = columns.map(({ name }) => name).join(', ');
  const { fields, keys } = derivedSource({ sql: '', columns }, alias);
  const sql = `(VALUES ${rows.join(', ')}) AS ${alias}(${names})`;
  return { sql, fields, keys, unique: false };
}

const typed = (cell: string, kind: Plain | undefined): string => {
  const type = { text: 'VARCHAR', integer: 'BIGINT', date: 'DATE', number: 'DOUBLE' };
  const name = type[kind as keyof typeof type];
  return cell === 'NULL' || kind === 'integer' ? `CAST(${cell} AS ${name})` : cell;
};

const WAYS = ['JOIN', 'JOIN', 'INNER JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN'] as const;

/** Two sources by a column that both have of one kind; by no column where there is none. */
export function joined(random: Seeded, left: Source, right: Source): Source {
  const pair = pairOf(random, left, right);
  const fields = [...left.fields, ...right.fields];
  const keys = [...left.keys, ...right.keys];
  const unique = left.unique && right.unique;
  if (pair === undefined || random.chance(0.08)) {
    const way = random.pick([' CROSS JOIN ', ', ']);
    return { sql: `${left.sql}${way}${right.sql}`, fields, keys, unique };
  }
  if (random.chance(0.15)) {
    const way = random.pick(['SEMI JOIN', 'ANTI JOIN']);
    return { ...left, sql: `${left.sql} ${way} ${right.sql} ON ${pair}` };
  }
  const way = random.pick(WAYS);
  const scope: Scope = { fields };
  const more =
    way !== 'FULL JOIN' && random.chance(0.25) ? ` AND ${condition(random, scope, 1)}` : '';
  return { sql: `${left.sql} ${way} ${right.sql} ON ${pair}${more}`, fields, keys, unique };
}

/** `a.symbol = b.symbol` before any other pair. */
function pairOf(random: Seeded, left: Source, right: Source): string | undefined {
  const bySymbol = [left, right].map(({ fields }) =>
    fields.find(({ sql }) => /\.`?symbol`?$/i.test(sql)),
  );
  if (bySymbol[0] !== undefined && bySymbol[1] !== undefined && random.chance(0.8)) {
    return `${bySymbol[0].sql} = ${bySymbol[1].sql}`;
  }
  const pairs = left.fields.flatMap((one) =>
    right.fields
      .filter(({ kind }) => kind === one.kind && kind !== 'boolean')
      .map((two) => [one, two]),
  );
  const [first, ...rest] = pairs;
  if (first === undefined) return undefined;
  const [one, two] = random.pick([first, ...rest]);
  return one === undefined || two === undefined ? undefined : `${one.sql} = ${two.sql}`;
}

/**
 * The nearest before: of each symbol and moment there is one record. Without a moment there is no
 * nearest, but of 64 records on DuckDB 1.5 finds one all the same: such records are left out.
 */
export function asOfSource(random: Seeded, one: string, other: string): Source {
  const timed = { sql: '(SELECT * FROM TRADES WHERE stamp IS NOT NULL)', columns: [] };
  const left = { ...datasetSource(random, 'TRADES', one), sql: derivedSource(timed, one).sql };
  const id = random.pick(['PRICES', 'QUOTES'] as const);
  const right = datasetSource(random, id, other);
  const time = id === 'PRICES' ? 'date' : 'stamp';
  const on = `${one}.symbol = ${other}.symbol AND ${one}.stamp ${random.pick(['>=', '>'])} ${other}.${time}`;
  const sql = `${left.sql} ASOF ${random.pick(['', 'LEFT '])}JOIN ${right.sql} ON ${on}`;
  const fields = [...left.fields, ...right.fields];
  return { sql, fields, keys: [...left.keys, ...right.keys], unique: true };
}
