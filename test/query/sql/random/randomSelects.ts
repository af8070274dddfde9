// Valid SELECTs at random, of all features of the subset; one text has one answer, in one order.
import type { Seeded } from '../../../soak/crash/rounds/seeded.ts';
import {
  anyKind,
  condition,
  expression,
  type Field,
  literal,
  type Plain,
  type Scope,
} from './randomExpressions.ts';
import {
  asOfSource,
  DATASETS,
  datasetSource,
  type Derived,
  derivedSource,
  joined,
  type NamedColumn,
  type Source,
  valuesSource,
} from './randomSources.ts';

const DEPTH = 2;

/** A whole query; its rows have a total order. */
export function randomSelect(random: Seeded): string {
  const maker = makerOf(random);
  const ctes = Array.from({ length: random.chance(0.3) ? random.between(1, 2) : 0 }, (_, at) => {
    const { columns, sql } = maker.query(1);
    maker.ctes.push({ sql: `w${at + 1}`, columns });
    return `w${at + 1} AS (${sql})`;
  });
  const { columns, sql } = maker.query(DEPTH);
  const order = columns.map((_, at) => `${at + 1}${random.pick(DIRECTIONS)}`).join(', ');
  const limit = random.chance(0.3)
    ? ` LIMIT ${random.between(0, 40)}${random.pick(['', '', ` OFFSET ${random.between(0, 3)}`])}`
    : ` LIMIT ${ROWS_MAX}`;
  const head = ctes.length === 0 ? '' : `WITH ${ctes.join(', ')} `;
  const body = random.chance(0.5) ? `SELECT ${starOf(random, columns)} FROM (${sql}) AS z` : sql;
  return `${head}${body} ORDER BY ${order}${limit}`;
}

/** All columns in their places, one of them now and then renamed or spelled differently. */
function starOf(random: Seeded, columns: readonly NamedColumn[]): string {
  const { name = '' } = columns[random.between(0, columns.length - 1)] ?? {};
  const isAlone = columns.filter((one) => one.name === name).length === 1;
  if (!isAlone || random.chance(0.5)) return random.pick(['*', '*', 'COLUMNS(*)', 'z.*']);
  return random.pick([
    `* RENAME (${name} AS other)`,
    `* REPLACE (coalesce(${name}, ${name}) AS ${name})`,
    `z.* REPLACE (z.${name} AS ${name})`,
  ]);
}

const ROWS_MAX = 400;
const DIRECTIONS = [
  '',
  '',
  ' DESC',
  ' NULLS FIRST',
  ' ASC NULLS LAST',
  ' DESC NULLS LAST',
] as const;

/** A source and a condition over it: for properties of any condition. */
export function randomCondition(random: Seeded): {
  readonly from: string;
  readonly condition: string;
} {
  const maker = makerOf(random);
  const source = maker.source(1);
  return { from: source.sql, condition: condition(random, maker.scope(source), 3) };
}

interface Maker {
  readonly random: Seeded;
  readonly ctes: Derived[];
  alias(): string;
  /** Names of columns that nothing else in the query has. */
  named(kinds: readonly Plain[]): readonly NamedColumn[];
  source(depth: number): Source;
  scope(source: Source): Scope;
  query(depth: number): Derived;
}

function makerOf(random: Seeded): Maker {
  let nameCount = 0;
  const maker: Maker = {
    random,
    ctes: [],
    alias: () => `t${++nameCount}`,
    named: (kinds) => kinds.map((kind) => ({ name: `c${++nameCount}`, kind })),
    source: (depth) => sourceOf(maker, depth),
    scope: ({ fields }) => ({
      fields,
      subselect: (kind) => subselect(maker, fields, kind),
      membership: () => membership(maker, fields),
    }),
    query: (depth) => queryOf(maker, depth),
  };
  return maker;
}

function sourceOf(maker: Maker, depth: number): Source {
  const { random } = maker;
  const one = single(maker, depth);
  if (depth <= 0 || random.chance(0.45)) return one;
  if (random.chance(0.1)) return asOfSource(random, maker.alias(), maker.alias());
  const two = joined(random, one, single(maker, depth - 1));
  return random.chance(0.15) ? joined(random, two, single(maker, 0)) : two;
}

function single(maker: Maker, depth: number): Source {
  const { ctes, random } = maker;
  const [first, ...rest] = ctes;
  if (first !== undefined && random.chance(0.4)) {
    return derivedSource(random.pick([first, ...rest]), maker.alias());
  }
  if (depth > 0 && random.chance(0.2)) {
    const { columns, sql } = maker.query(depth - 1);
    return derivedSource({ sql: `(${sql})`, columns }, maker.alias());
  }
  if (random.chance(0.06)) return valuesSource(random, maker.alias());
  return datasetSource(random, random.pick(DATASETS), maker.alias());
}

/** One value of another dataset: by an aggregate, so that one always exists. */
function subselect(maker: Maker, outer: readonly Field[], kind: Plain): string | undefined {
  const { random } = maker;
  const { fields, sql } = datasetSource(random, random.pick(DATASETS), maker.alias());
  const where = correlated(random, fields, outer);
  if (kind === 'integer' && random.chance(0.4)) return `(SELECT count(*) FROM ${sql}${where})`;
  const [first, ...rest] = fields.filter((field) => field.kind === kind && kind !== 'boolean');
  if (first === undefined) return undefined;
  const fold = random.pick(['max', 'min']);
  return `(SELECT ${fold}(${random.pick([first, ...rest]).sql}) FROM ${sql}${where})`;
}

function correlated(random: Seeded, inner: readonly Field[], outer: readonly Field[]): string {
  const texts = (fields: readonly Field[]): readonly Field[] =>
    fields.filter(({ kind, sql }) => kind === 'text' && !sql.includes('->'));
  const [own] = texts(inner);
  const [first, ...rest] = texts(outer);
  if (own === undefined || first === undefined || random.chance(0.3)) return '';
  return ` WHERE ${own.sql} = ${random.pick([first, ...rest]).sql}`;
}

function membership(maker: Maker, outer: readonly Field[]): string {
  const { random } = maker;
  const { fields, sql } = datasetSource(random, random.pick(DATASETS), maker.alias());
  const not = random.chance(0.3) ? 'NOT ' : '';
  if (random.chance(0.5))
    return `(${not}EXISTS (SELECT 1 FROM ${sql}${correlated(random, fields, outer)}))`;
  const [first] = fields;
  const own = outer.find(({ kind }) => kind === first?.kind);
  if (first === undefined || own === undefined) return 'true';
  const list = `(SELECT ${first.sql} FROM ${sql} WHERE ${condition(random, { fields }, 1)})`;
  const way = random.pick(['= ANY', '<> ALL', '> ANY', '<= ALL', 'IN', 'IN', 'IN'] as const);
  return way === 'IN' ? `(${own.sql} ${not}IN ${list})` : `(${own.sql} ${way} ${list})`;
}

function queryOf(maker: Maker, depth: number): Derived {
  const { random } = maker;
  if (depth > 0 && random.chance(0.15)) return setOperation(maker, depth);
  const count = random.between(1, 4);
  const kinds = Array.from({ length: count }, () => anyKind(random));
  return random.pick([rows, rows, grouped, grouped, windowed, distinctOn])(maker, depth, kinds);
}

const WAYS = ['UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT', 'INTERSECT ALL', 'EXCEPT ALL'] as const;

function setOperation(maker: Maker, depth: number): Derived {
  const { random } = maker;
  const kinds = Array.from({ length: random.between(1, 3) }, () => anyKind(random));
  const halves = Array.from({ length: random.between(2, 3) }, () => rows(maker, depth - 1, kinds));
  const [first = rows(maker, 0, kinds), ...rest] = halves;
  const sql = rest.reduce(
    (all, { sql: half }) => `(${all}) ${random.pick(WAYS)} (${half})`,
    first.sql,
  );
  return { sql, columns: first.columns };
}

type Make = (maker: Maker, depth: number, kinds: readonly Plain[]) => Derived;

const listed = (values: readonly string[], columns: readonly NamedColumn[]): string =>
  values.map((value, at) => `${value} AS ${columns[at]?.name}`).join(', ');

function where(maker: Maker, source: Source): string {
  const { random } = maker;
  return random.chance(0.5) ? ` WHERE ${condition(random, maker.scope(source), 1)}` : '';
}

const rows: Make = (maker, depth, kinds) => {
  const { random } = maker;
  const source = maker.source(depth);
  const values = kinds.map((kind) => expression(random, maker.scope(source), kind));
  const distinct = random.chance(0.2) ? 'DISTINCT ' : '';
  const columns = maker.named(kinds);
  const list = listed(values, columns);
  const sql = `SELECT ${distinct}${list} FROM ${source.sql}${where(maker, source)}`;
  return { sql, columns };
};

/** Columns to group by, then aggregates of the kinds. */
const grouped: Make = (maker, depth, kinds) => {
  const { random } = maker;
  const source = maker.source(depth);
  const keys = Array.from({ length: random.between(0, 2) }, () => fieldOf(random, source));
  const folds = kinds.map((kind) => fold(maker, source, kind));
  const values = [...keys.map(({ sql }) => sql), ...folds];
  const columns = maker.named([...keys.map(({ kind }) => kind), ...kinds]);
  const by = keys.length === 0 ? '' : ` GROUP BY ${groups(random, keys, columns)}`;
  const having = random.chance(0.25) ? ` HAVING ${havings(maker, source)}` : '';
  const list = listed(values, columns);
  const sql = `SELECT ${list} FROM ${source.sql}${where(maker, source)}${by}${having}`;
  return { sql, columns };
};

function fieldOf(random: Seeded, { fields }: Source): Field {
  const [first, ...rest] = fields.filter(({ sql }) => !sql.includes('->'));
  return random.pick([first ?? { sql: '1', kind: 'integer' }, ...rest]);
}

function groups(random: Seeded, keys: readonly Field[], columns: readonly NamedColumn[]): string {
  const list = keys.map(({ sql }) => sql).join(', ');
  const sets = [...keys.map(({ sql }) => `(${sql})`), '()', `(${list})`].join(', ');
  return random.pick([
    ...([list, list, 'ALL', keys.map((_, at) => at + 1).join(', ')] as const),
    `ROLLUP (${list})`,
    `CUBE (${list})`,
    `GROUPING SETS (${sets})`,
    keys.map((_, at) => columns[at]?.name).join(', '),
  ]);
}

/** An aggregate of the kind. */
function fold({ random }: Maker, source: Source, kind: Plain): string {
  const scope: Scope = { fields: source.fields };
  const of = (argumentKind: Plain): string => expression(random, scope, argumentKind, 1);
  const filter = random.chance(0.2) ? ` FILTER (WHERE ${condition(random, scope, 1)})` : '';
  const distinct = random.chance(0.2) ? 'DISTINCT ' : '';
  const first = `first(${of(kind)} ORDER BY ${source.keys.join(', ')})${filter}`;
  const folds: Readonly<Record<Plain, readonly [string, ...string[]]>> = {
    integer: [
      `count(*)${filter}`,
      `count(${distinct}${of(random.pick(['text', 'date', 'number']))})${filter}`,
      `CAST(sum(${distinct}${of('integer')} % 1000)${filter} AS BIGINT)`,
      `max(${of('integer')})${filter}`,
      first,
    ],
    number: [
      `sum(${distinct}${of('number')})${filter}`,
      `avg(${of('number')})${filter}`,
      `min(${of('number')})${filter}`,
      `median(${of('number')})${filter}`,
      first,
    ],
    boolean: [`bool_and(${of('boolean')})${filter}`, `bool_or(${of('boolean')})${filter}`],
    text: [`max(${of('text')})${filter}`, `min(${of('text')})${filter}`, first],
    date: [`max(${of('date')})${filter}`, `min(${of('date')})${filter}`, first],
    time: [`max(${of('time')})${filter}`, `min(${of('time')})${filter}`],
  };
  return random.pick(folds[kind]);
}

function havings(maker: Maker, source: Source): string {
  const { random } = maker;
  return random.pick([
    `count(*) > ${random.between(0, 3)}`,
    `${fold(maker, source, 'number')} > ${literal(random, 'number')}`,
    `${fold(maker, source, 'text')} IS NOT NULL`,
    `NOT ${fold(maker, source, 'boolean')}`,
  ]);
}

/** Two windows may order equal rows differently: with equal rows there is only one window. */
const windowed: Make = (maker, depth, columnKinds) => {
  const { random } = maker;
  const source = maker.source(depth);
  const kinds = source.unique ? columnKinds : columnKinds.slice(0, 1);
  const values = kinds.map((kind) => overWindow(maker, source, kind));
  const plain = expression(random, { fields: source.fields }, anyKindOf(kinds));
  const qualify =
    source.unique && random.chance(0.3)
      ? ` QUALIFY row_number() OVER ${window(maker, source)} <= ${random.between(1, 5)}`
      : '';
  const columns = maker.named([...kinds, anyKindOf(kinds)]);
  const list = listed([...values, plain], columns);
  const sql = `SELECT ${list} FROM ${source.sql}${where(maker, source)}${qualify}`;
  return { sql, columns };
};

const anyKindOf = (kinds: readonly Plain[]): Plain => kinds[0] ?? 'text';

function overWindow(maker: Maker, source: Source, kind: Plain): string {
  const { random } = maker;
  const value = expression(random, { fields: source.fields }, kind, 1);
  const bare = window(maker, source);
  const framed = window(maker, source, frame(random));
  const ways: readonly [string, ...string[]] = [
    `${random.pick(['lag', 'lead'])}(${value}, ${random.between(0, 3)}) OVER ${bare}`,
    `${random.pick(['first_value', 'last_value'])}(${value}) OVER ${framed}`,
    `nth_value(${value}, ${random.between(1, 3)}) OVER ${framed}`,
    ...(kind === 'boolean' ? [] : [`${random.pick(['max', 'min'])}(${value}) OVER ${framed}`]),
  ];
  if (kind === 'integer' && random.chance(0.6)) {
    const ranks = ['row_number()', 'rank()', 'dense_rank()', 'ntile(3)', 'count(*)'] as const;
    return `${random.pick(ranks)} OVER ${bare}`;
  }
  if (kind !== 'number' || random.chance(0.5)) return random.pick(ways);
  return random.pick([
    `${random.pick(['sum', 'avg'])}(${value}) OVER ${framed}`,
    `${random.pick(['cume_dist', 'percent_rank'])}() OVER ${bare}`,
  ]);
}

/** The keys are the last terms: only rows that are equal in every column are equal in this order. */
function window({ random }: Maker, source: Source, rest = ''): string {
  const partition = random.chance(0.6) ? `PARTITION BY ${fieldOf(random, source).sql} ` : '';
  const first = `${fieldOf(random, source).sql}${random.pick(DIRECTIONS)}`;
  return `(${partition}ORDER BY ${[first, ...source.keys].join(', ')}${rest})`;
}

function frame(random: Seeded): string {
  const start = random.pick(['UNBOUNDED PRECEDING', '2 PRECEDING', '1 PRECEDING', 'CURRENT ROW']);
  const end = random.pick(['UNBOUNDED FOLLOWING', '2 FOLLOWING', 'CURRENT ROW', '1 FOLLOWING']);
  const way = random.pick(['ROWS', 'ROWS', 'GROUPS']);
  const exclude = random.pick(['', '', '', ' EXCLUDE CURRENT ROW', ' EXCLUDE TIES']);
  return random.chance(0.3) ? '' : ` ${way} BETWEEN ${start} AND ${end}${exclude}`;
}

const distinctOn: Make = (maker, depth, kinds) => {
  const { random } = maker;
  const source = maker.source(depth);
  const { sql: on } = fieldOf(random, source);
  const values = kinds.map((kind) => expression(random, { fields: source.fields }, kind, 1));
  const order = [on, ...source.keys].join(', ');
  const columns = maker.named(kinds);
  const head = `SELECT DISTINCT ON (${on}) ${listed(values, columns)} FROM ${source.sql}`;
  const sql = `SELECT * FROM (${head}${where(maker, source)} ORDER BY ${order}) AS d`;
  return { sql, columns };
};
