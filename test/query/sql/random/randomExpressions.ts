// Expressions of a given kind over the columns in scope, at random: every one of them is valid, and
// none fails on any record. Doubles stay sums of quarters as far as they are summed or compared, so
// that no order of adding shows.
import type { Seeded } from '../../../soak/crash/rounds/seeded.ts';
export interface Field {
  /** As it is written: `t1.symbol`. */
  readonly sql: string;
  readonly kind: Plain;
}

/** The names that an expression may use. */
export interface Scope {
  readonly fields: readonly Field[];
  /** A sub-select of one value of a kind; undefined where none is allowed. */
  readonly subselect?: (kind: Plain) => string | undefined;
  /** A sub-select of a condition: EXISTS and IN. */
  readonly membership?: () => string | undefined;
}

const KINDS = ['text', 'number', 'integer', 'boolean', 'date', 'time'] as const;
export type Plain = (typeof KINDS)[number];

export const anyKind = (random: Seeded): Plain => random.pick(KINDS);

type Maker = (random: Seeded, scope: Scope, depth: number) => string;

/** An expression of the kind, in parentheses where it has parts. */
export function expression(random: Seeded, scope: Scope, kind: Plain, depth = 2): string {
  if (depth <= 0 || random.chance(0.35)) return leaf(random, scope, kind);
  const inner = random.chance(0.1) ? scope.subselect?.(kind) : undefined;
  if (inner !== undefined) return inner;
  return random.pick(MAKERS[kind])(random, scope, depth - 1);
}

function leaf(random: Seeded, { fields }: Scope, kind: Plain): string {
  // A constant condition leaves all or nothing: that is no test of the rest.
  if (kind === 'boolean' && random.chance(0.8)) return compared(random, fields);
  const [first, ...rest] = fields.filter((field) => field.kind === kind);
  if (first !== undefined && random.chance(0.85)) return random.pick([first, ...rest]).sql;
  return random.chance(0.06) ? `CAST(NULL AS ${SQL_NAMES[kind]})` : literal(random, kind);
}

/** A column and a value of its kind. */
function compared(random: Seeded, fields: readonly Field[]): string {
  const [first, ...rest] = fields;
  if (first === undefined) return literal(random, 'boolean');
  const { kind, sql } = random.pick([first, ...rest]);
  if (random.chance(0.2)) return `(${sql} IS NOT NULL)`;
  return `(${sql} ${random.pick(['>=', '<=', '<>', '<', '>', '='])} ${literal(random, kind)})`;
}

const SQL_NAMES: Readonly<Record<Plain, string>> = {
  text: 'VARCHAR',
  number: 'DOUBLE',
  integer: 'BIGINT',
  boolean: 'BOOLEAN',
  date: 'DATE',
  time: 'TIMESTAMP',
};

const TEXTS = [
  ...(['AAPL', 'IBM', 'MSFT', 'BMW', 'buy', 'sell', '', 'US', 'DE', 'Technology', 'x'] as const),
  "it''s",
  'N',
  'é',
  '日本',
  '%',
  '\\_',
  'a"b',
] as const;

export function literal(random: Seeded, kind: Plain): string {
  switch (kind) {
    case 'text': {
      const text = random.pick(TEXTS);
      return random.chance(0.2) && !/["']/.test(text) ? `"${text}"` : `'${text}'`;
    }
    case 'number':
      return `${random.between(-40, 1600) / 4}::DOUBLE`;
    case 'integer':
      return random.pick([String(random.between(-10, 1000)), '0', '1', '100', '-1']);
    case 'boolean':
      return random.pick(['true', 'false']);
    case 'date':
      return `DATE '${random.pick(['2023-12-29', '2024-01-03', '2024-02-29', '1969-12-31'])}'`;
    case 'time':
      return `TIMESTAMP '2024-01-0${random.between(2, 5)} 1${random.between(0, 9)}:30:00'`;
  }
}

const of =
  (kind: Plain): Maker =>
  (random, scope, depth) =>
    expression(random, scope, kind, depth);
const text = of('text');
const number = of('number');
const integer = of('integer');
const boolean = of('boolean');
const date = of('date');
const time = of('time');

/** The expressions of every kind: CASE, COALESCE, NULLIF, the larger and the smaller. */
const choices = (kind: Plain): readonly [Maker, ...Maker[]] => {
  const some = of(kind);
  return [
    (r, s, d) => `CASE WHEN ${boolean(r, s, d)} THEN ${some(r, s, d)} ELSE ${some(r, s, d)} END`,
    (r, s, d) => `CASE WHEN ${boolean(r, s, d)} THEN ${some(r, s, d)} END`,
    (r, s, d) => `coalesce(${some(r, s, d)}, ${some(r, s, d)})`,
    (r, s, d) => `nullif(${some(r, s, d)}, ${some(r, s, d)})`,
    (r, s, d) => `${r.pick(['greatest', 'least'])}(${some(r, s, d)}, ${some(r, s, d)})`,
  ];
};

const COMPARISONS = ['=', '<>', '<', '>', '<=', '>=', '!='] as const;
const COMPARED = ['text', 'number', 'integer', 'date', 'time'] as const;

/** Mostly one that a column in scope has. */
function kindOf(random: Seeded, { fields }: Scope): Plain {
  const [first, ...rest] = fields.map(({ kind }) => kind).filter((kind) => kind !== 'boolean');
  return first === undefined || random.chance(0.2)
    ? random.pick(COMPARED)
    : random.pick([first, ...rest]);
}

const comparison: Maker = (random, scope, depth) => {
  const kind = kindOf(random, scope);
  const [one, other] = [of(kind), of(kind)].map((make) => make(random, scope, depth));
  const way = random.chance(0.15)
    ? random.pick(['IS DISTINCT FROM', 'IS NOT DISTINCT FROM'] as const)
    : random.pick(COMPARISONS);
  return `(${one} ${way} ${other})`;
};

const range: Maker = (random, scope, depth) => {
  const make = of(kindOf(random, scope));
  const parts = [0, 1, 2].map(() => make(random, scope, depth));
  const not = random.chance(0.3) ? 'NOT ' : '';
  return `(${parts[0]} ${not}BETWEEN ${parts[1]} AND ${parts[2]})`;
};

const list: Maker = (random, scope, depth) => {
  const kind = random.pick(['text', 'integer', 'date'] as const);
  const items = Array.from({ length: random.between(1, 4) }, () => literal(random, kind));
  if (random.chance(0.1)) items.push('NULL');
  const not = random.chance(0.3) ? 'NOT ' : '';
  return `(${of(kind)(random, scope, depth)} ${not}IN (${items.join(', ')}))`;
};

const PATTERNS = ["'A%'", "'%e%'", "'_BM'", "''", "'%'", "'b__'", "'%!_%' ESCAPE '!'"] as const;

const like: Maker = (random, scope, depth) => {
  const way = random.pick(['LIKE', 'NOT LIKE', 'ILIKE', 'NOT ILIKE'] as const);
  return `(${text(random, scope, depth)} ${way} ${random.pick(PATTERNS)})`;
};

const isNull: Maker = (random, scope, depth) =>
  `(${of(anyKind(random))(random, scope, depth)} IS ${random.chance(0.5) ? 'NOT ' : ''}NULL)`;

const member: Maker = (random, scope, depth) =>
  scope.membership?.() ?? comparison(random, scope, depth);

const MAKERS: Readonly<Record<Plain, readonly [Maker, ...Maker[]]>> = {
  boolean: [
    ...([comparison, comparison, comparison, range, list, like, isNull, member] as const),
    (r, s, d) => `(${boolean(r, s, d)} AND ${boolean(r, s, d)})`,
    (r, s, d) => `(${boolean(r, s, d)} OR ${boolean(r, s, d)})`,
    (r, s, d) => `(NOT ${boolean(r, s, d)})`,
    (r, s, d) => `(${boolean(r, s, d)} IS ${r.pick(['TRUE', 'NOT TRUE', 'FALSE', 'UNKNOWN'])})`,
    (r, s, d) => `starts_with(${text(r, s, d)}, ${literal(r, 'text')})`,
    ...choices('boolean'),
  ],
  text: [
    ...choices('text'),
    (r, s, d) => `(${text(r, s, d)} || ${text(r, s, d)})`,
    (r, s, d) => `${r.pick(['upper', 'lower', 'trim', 'reverse'])}(${text(r, s, d)})`,
    (r, s, d) => `concat(${text(r, s, d)}, '-', ${text(r, s, d)})`,
    (r, s, d) => `substring(${text(r, s, d)}, ${r.between(1, 3)}, ${r.between(0, 4)})`,
    (r, s, d) => `left(${text(r, s, d)}, ${r.between(0, 4)})`,
    (r, s, d) => `replace(${text(r, s, d)}, ${literal(r, 'text')}, ${literal(r, 'text')})`,
    (r, s, d) => `CAST(${r.pick([integer, date, boolean])(r, s, d)} AS VARCHAR)`,
    (r, s, d) => `strftime(${date(r, s, d)}, '%Y/%m')`,
  ],
  integer: [
    ...choices('integer'),
    (r, s, d) => `length(${text(r, s, d)})`,
    (r, s, d) => `(${small(r, s, d)} ${r.pick(['+', '-'])} ${small(r, s, d)})`,
    (r, s, d) => `(${small(r, s, d)} * ${r.between(-3, 9)})`,
    (r, s, d) => `(${small(r, s, d)} ${r.pick(['%', '//'])} ${r.pick(['7', '10', '0'])})`,
    (r, s, d) =>
      `CAST(extract(${r.pick(['year', 'month', 'day', 'dow'])} FROM ${date(r, s, d)}) AS BIGINT)`,
    (r, s, d) => `date_diff('day', ${date(r, s, d)}, ${date(r, s, d)})`,
    (r, s, d) => `TRY_CAST(${text(r, s, d)} AS BIGINT)`,
    (r, s, d) => `abs(${small(r, s, d)})`,
  ],
  number: [
    ...choices('number'),
    (r, s, d) => `(${number(r, s, d)} ${r.pick(['+', '-'])} ${number(r, s, d)})`,
    (r, s, d) => `(${number(r, s, d)} * ${r.pick(['2', '0.5::DOUBLE', '-1', '4'])})`,
    (r, s, d) => `CAST(${small(r, s, d)} AS DOUBLE)`,
    (r, s, d) => `${r.pick(['floor', 'ceil', 'abs', 'round'])}(${number(r, s, d)})`,
    (r, s, d) => `TRY_CAST(${text(r, s, d)} AS DOUBLE)`,
  ],
  date: [
    ...choices('date'),
    (r, s, d) => `(${date(r, s, d)} ${r.pick(['+', '-'])} ${r.between(0, 40)})`,
    (r, s, d) => `CAST(${time(r, s, d)} AS DATE)`,
    (r, s, d) => `last_day(${date(r, s, d)})`,
    (r, s, d) =>
      `CAST(date_trunc('${r.pick(['month', 'week', 'year'])}', ${date(r, s, d)}) AS DATE)`,
  ],
  time: [
    ...choices('time'),
    (r, s, d) => `(${time(r, s, d)} ${r.pick(['+', '-'])} INTERVAL ${r.between(1, 90)} MINUTE)`,
    (r, s, d) => `CAST(${date(r, s, d)} AS TIMESTAMP)`,
    (r, s, d) => `date_trunc('${r.pick(['hour', 'minute', 'day'])}', ${time(r, s, d)})`,
  ],
};

/** A whole number that stays far from the end of its type under any operation. */
const small: Maker = (random, scope, depth) => `(${integer(random, scope, depth)} % 100000)`;

export const condition = (random: Seeded, scope: Scope, depth = 2): string =>
  boolean(random, scope, depth);
