// Random queries that aggregate records of licensed data, with joins, conditions and sub-selects of every
// kind: some make the answer depend on a record, others only seem to exclude one.
import type { Seeded } from '../../crash/rounds/seeded.ts';

const SYMBOLS = ['AA', 'BB', 'CC'] as const;
const DAYS = ['2024-01-02', '2024-01-03', '2024-01-04'] as const;

/** A query whose rows all aggregate several records. */
export function foldedQuery(random: Seeded): string {
  const from = sourceOf(random);
  const where = conditions(random, from.names, 0.7);
  const tail = where === '' ? '' : ` WHERE ${where}`;
  const body = `FROM ${from.sql}${tail}`;
  const query = folded(random, from.names, body);
  return from.common === '' ? query : `WITH ${from.common} ${query}`;
}

interface From {
  readonly sql: string;
  /** Aliases that have symbol, date and close; those of KEYS have no close. */
  readonly names: readonly Name[];
  readonly common: string;
}

interface Name {
  readonly alias: string;
  readonly licensed: boolean;
}

function folded(random: Seeded, names: readonly Name[], body: string): string {
  const value = valueOf(random, names);
  const first = names[0]?.alias ?? '';
  const forms = [
    `SELECT count(*) AS n, sum(${value}) AS s ${body}`,
    `SELECT ${first}.symbol AS g, min(${value}) AS s, count(*) AS n ${body} GROUP BY 1 ORDER BY ALL`,
    `SELECT string_agg(${value}, ',' ORDER BY ${value}) AS s ${body}`,
    `SELECT DISTINCT ${value} AS v ${body} ORDER BY ALL`,
    `SELECT sum(${value}) OVER () AS v ${body} LIMIT 1`,
    `SELECT max(x.v) AS v FROM (SELECT ${value} AS v ${body}) x`,
    `SELECT (SELECT sum(${value}) ${body}) AS v`,
    `SELECT n FROM NUMS WHERE n = 1 AND EXISTS (SELECT 1 ${body} AND ${value} > 0)`,
    `SELECT sum(v) AS v FROM (SELECT ${value} AS v ${body} UNION ALL SELECT n FROM NUMS WHERE n < 3)`,
    `SELECT ${value} AS v ${body} EXCEPT SELECT n FROM NUMS ORDER BY ALL`,
    `SELECT g, s FROM (SELECT ${first}.symbol AS g, sum(${value}) AS s ${body} GROUP BY ALL) x
       WHERE ${conditionsOn(random, 'g')} ORDER BY ALL`,
    `SELECT s, v FROM (SELECT ${first}.symbol AS s, sum(${value}) OVER (PARTITION BY ${first}.date) AS v
       ${body}) x WHERE ${conditionsOn(random, 's')} ORDER BY ALL`,
  ] as const;
  const form = random.pick(forms);
  return body.includes(' WHERE ') ? form : form.replace(' AND ' + `${value} > 0)`, ')');
}

function valueOf(random: Seeded, names: readonly Name[]): string {
  const licensed = names.filter((name) => name.licensed);
  const one = licensed[0]?.alias ?? 'b';
  const other = licensed.at(-1)?.alias ?? one;
  return random.pick([
    `${one}.close`,
    `coalesce(${one}.close, 0)`,
    `CASE WHEN ${one}.close > 400 THEN 1 ELSE 0 END`,
    `${one}.close + coalesce(${other}.close, 0)`,
    `coalesce(${one}.close, 0) - coalesce(${other}.close, 1)`,
    `(SELECT coalesce(max(i.close), 0) FROM CORE.BARS i WHERE i.symbol = ${one}.symbol
      AND i.date = '2024-01-03')`,
    `(SELECT count(*) FROM CORE.BARS i WHERE i.date = ${one}.date AND i.close < ${one}.close)`,
  ] as const);
}

function sourceOf(random: Seeded): From {
  const bars: Name = { alias: 'b', licensed: true };
  const keys: Name = { alias: 'k', licensed: false };
  const table = tableOf(random, 'b');
  const other = tableOf(random, 'c');
  const common = [table, other]
    .flatMap((one) => (one.common === '' ? [] : [one.common]))
    .join(', ');
  const way = random.pick(['JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN'] as const);
  const chosen = random.pick(['SEMI JOIN', 'ANTI JOIN'] as const);
  const on = (left: Name, right: Name): string => joinOf(random, left, right);
  const two: Name = { alias: 'c', licensed: true };
  const dice = random.between(0, 9);
  if (dice === 0) return { sql: `${table.sql}`, names: [bars], common: table.common };
  if (dice < 3) {
    return {
      sql: `KEYS k ${way} ${table.sql} ${on(keys, bars)}`,
      names: [keys, bars],
      common: table.common,
    };
  }
  if (dice === 3) {
    return {
      sql: `${table.sql} ${way} KEYS k ${on(bars, keys)}`,
      names: [bars, keys],
      common: table.common,
    };
  }
  if (dice === 4) {
    const asOf = random.pick(['ASOF JOIN', 'ASOF LEFT JOIN'] as const);
    const using = random.chance(0.3);
    const rule = using ? 'USING (symbol, date)' : `ON k.symbol = b.symbol AND k.date >= b.date`;
    return {
      sql: `KEYS k ${asOf} ${table.sql} ${rule}`,
      names: [keys, bars],
      common: table.common,
    };
  }
  if (dice === 5) {
    // The right side of a SEMI or ANTI join has no columns outside, so the left side is licensed too.
    const sql = `${table.sql} ${chosen} ${other.sql} ${on(bars, two)}`;
    return { sql, names: [bars], common };
  }
  if (dice === 6) {
    const sql = `${table.sql} ${way} ${other.sql} ${on(bars, two)}`;
    return { sql, names: [bars, two], common };
  }
  if (dice === 7) return { sql: `KEYS k, ${table.sql}`, names: [keys, bars], common: table.common };
  if (dice === 8) {
    const lateral = `LATERAL (SELECT i.symbol, i.date, i.close FROM CORE.BARS i WHERE i.symbol = k.symbol
      AND ${random.pick(['i.date = k.date', 'i.close > 300', 'i.date <= k.date'] as const)}
      ${random.pick(['', 'ORDER BY i.close LIMIT 1'] as const)}) b`;
    return { sql: `KEYS k, ${lateral}`, names: [keys, bars], common: '' };
  }
  const three = `(${table.sql} ${way} ${other.sql} ${on(bars, two)})`;
  const sql = `KEYS k ${random.pick(['JOIN', 'LEFT JOIN'] as const)} ${three} ${plainOn(random, keys, bars)}`;
  return { sql, names: [keys, bars, two], common };
}

/** Licensed records under a name: directly, or through a sub-select that may hide conditions. */
function tableOf(random: Seeded, alias: string): { readonly sql: string; readonly common: string } {
  const inner = random.pick([
    `SELECT symbol, date, close FROM CORE.BARS`,
    `SELECT symbol, date, close FROM CORE.BARS WHERE close > 300`,
    `SELECT symbol, date, close FROM CORE.BARS WHERE symbol <> 'BB'`,
    `SELECT symbol, date, max(close) AS close FROM CORE.BARS GROUP BY symbol, date`,
    `SELECT symbol, min(date) AS date, sum(close) AS close FROM CORE.BARS GROUP BY symbol`,
    `SELECT DISTINCT symbol, date, close FROM CORE.BARS`,
    `SELECT * REPLACE ('AA' AS symbol) FROM CORE.BARS`,
    `SELECT symbol, date, v AS close FROM CORE.BARS UNPIVOT (v FOR n IN (close, volume))`,
    `SELECT symbol, date, u AS close FROM CORE.BARS PIVOT (max(close) FOR up IN (true AS u, false AS d)
      GROUP BY symbol, date)`,
    `SELECT * REPLACE (DATE '2024-01-03' AS date, close + 1 AS close) FROM CORE.BARS`,
    `SELECT * EXCLUDE (close) RENAME (volume AS close) FROM CORE.BARS`,
    `SELECT * REPLACE (max(close) OVER () AS close) FROM CORE.BARS`,
    `SELECT COLUMNS('^(symbol|date|close)$') FROM CORE.BARS WHERE COLUMNS('^clo') > 300`,
    `SELECT symbol, max(COLUMNS('^(date|close)$')) FROM CORE.BARS GROUP BY symbol`,
    `SELECT symbol, date, close FROM CORE.BARS ORDER BY close LIMIT 4`,
    `SELECT symbol, date, close FROM CORE.BARS UNION ALL SELECT 'AA', date, close FROM CORE.BARS
      WHERE symbol = 'CC'`,
    `SELECT date AS symbol2, symbol, date, close FROM CORE.BARS`,
    `SELECT coalesce(k2.symbol, 'AA') AS symbol, x.date, x.close FROM CORE.BARS x LEFT
      JOIN KEYS k2 ON k2.symbol = x.symbol`,
    `SELECT symbol, date, lag(close) OVER (PARTITION BY symbol ORDER BY date) AS close FROM CORE.BARS`,
    `SELECT symbol, date, lag(close) OVER (ORDER BY symbol, date) AS close FROM CORE.BARS`,
  ] as const);
  const dice = random.between(0, 9);
  if (dice < 4) return { sql: `CORE.BARS ${alias}`, common: '' };
  if (dice < 5) return { sql: `MINE ${alias}`, common: '' };
  if (dice < 6) return { sql: `CORE.PLAIN AS ${alias}`, common: '' };
  if (dice < 8) return { sql: `(${inner}) ${alias}`, common: '' };
  return { sql: `w${alias} ${alias}`, common: `w${alias} AS (${inner})` };
}

function joinOf(random: Seeded, left: Name, right: Name): string {
  if (random.chance(0.3)) return `USING (${random.pick(['symbol', 'symbol, date'] as const)})`;
  return plainOn(random, left, right);
}

function plainOn(random: Seeded, left: Name, right: Name): string {
  const own = conditions(random, [left, right], 0.4);
  const keys = [`${left.alias}.symbol = ${right.alias}.symbol`];
  if (random.chance(0.5)) keys.push(`${left.alias}.date = ${right.alias}.date`);
  return `ON ${own === '' ? keys.join(' AND ') : `${keys.join(' AND ')} AND ${own}`}`;
}

/** Some conditions, combined with AND. */
function conditions(random: Seeded, names: readonly Name[], chance: number): string {
  const all: string[] = [];
  while (random.chance(chance) && all.length < 3)
    all.push(condition(random, random.pick(asList(names))));
  return all.join(' AND ');
}

const asList = (names: readonly Name[]): readonly [Name, ...Name[]] => {
  const [first, ...rest] = names;
  if (first === undefined) throw new Error('a query has a source');
  return [first, ...rest];
};

function condition(random: Seeded, { alias, licensed }: Name): string {
  if (licensed && random.chance(0.25)) {
    return random.pick([`${alias}.close > 300`, `${alias}.close IS NULL`] as const);
  }
  return conditionsOn(random, `${alias}.symbol`, `${alias}.date`);
}

function conditionsOn(random: Seeded, symbol: string, date = `DATE '2024-01-03'`): string {
  const [one, two, day] = [random.pick(SYMBOLS), random.pick(SYMBOLS), random.pick(DAYS)];
  return random.pick([
    `${symbol} = '${one}'`,
    `${symbol} <> '${one}'`,
    `${symbol} IN ('${one}', '${two}')`,
    `${symbol} NOT IN ('${one}', '${two}')`,
    `(${symbol} = '${one}' OR ${symbol} IS NULL)`,
    `coalesce(${symbol}, '${one}') = '${one}'`,
    `${symbol} IS NOT DISTINCT FROM '${one}'`,
    `NOT (${symbol} = '${one}')`,
    `${symbol} LIKE '${one.slice(0, 1)}%'`,
    `lower(${symbol}) = '${one.toLowerCase()}'`,
    `${date} = '${day}'`,
    `${date} >= '${day}'`,
    `${date} BETWEEN '2024-01-03' AND '${day}'`,
    `${symbol} IN (SELECT symbol FROM KEYS WHERE date > '${day}')`,
    `${symbol} NOT IN (SELECT z.symbol FROM CORE.BARS z WHERE z.close > 500)`,
    `EXISTS (SELECT 1 FROM CORE.BARS z WHERE z.symbol = ${symbol} AND z.close > 500)`,
    `${symbol} IN (SELECT z.symbol FROM CORE.BARS z WHERE z.close > 400 AND z.date = ${date})`,
    `(SELECT max(z.close) FROM CORE.BARS z WHERE z.symbol = ${symbol}) > 400`,
  ] as const);
}
