// Programs that try to learn licensed records below their price: each packs, aggregates, guesses or
// searches in its own way, over a relation that reads the records directly, by views or by WITH.
// The learnt values are read from its answers, and the paid messages from their headers.
import type { Seeded } from '../../crash/rounds/seeded.ts';
import { ask, askSql, type Bar, type Shop, type Answer } from './shop.ts';

interface Program {
  readonly name: string;
  /** Returns the values that it learnt, in cents; each is a target's value. */
  readonly run: (shop: Shop, call: Asking) => Promise<readonly number[]>;
}

/** Sends requests and adds up what they cost. */
interface Asking {
  sql(text: string): Promise<Answer>;
  get(path: string): Promise<Answer>;
}

export const centsOf = ({ close }: Bar): number => Math.round(close * 100);

interface Aim {
  /** A source that has symbol, date and close. */
  readonly rel: string;
  /** Text before SELECT. */
  readonly common: string;
  /** The records to learn: of one symbol, in order of their days. */
  readonly targets: readonly Bar[];
  readonly where: string;
}

const CENTS = 'CAST(round(close * 100) AS BIGINT)';
const centsIn = (alias: string): string => `CAST(round(${alias}.close * 100) AS BIGINT)`;

/** Picks targets and a relation that reads them. */
function aimOf(random: Seeded, bars: readonly Bar[]): Aim {
  const symbol = random.pick(['AA', 'BB', 'CC', 'DD', 'EE'] as const);
  const all = bars.filter((bar) => bar.symbol === symbol);
  const targets = all.slice(random.between(0, 3), random.between(6, 10));
  const [first, last] = [targets[0]?.date ?? '', targets.at(-1)?.date ?? ''];
  const plain = 'SELECT symbol, date, close FROM CORE.BARS';
  const rel = random.pick([
    ...(['CORE.BARS', 'CORE.BARS', 'MINE', 'CORE.PLAIN'] as const),
    ...([`(${plain})`, `(SELECT symbol, date, twice / 2 AS close FROM NESTED)`, 'w'] as const),
  ] as const);
  const common = rel === 'w' ? `WITH w AS (${plain}) ` : '';
  return {
    rel,
    common,
    targets,
    where: `symbol = '${symbol}' AND date BETWEEN '${first}' AND '${last}'`,
  };
}

type Text = (aim: Aim) => string;

const each = (aim: Aim, text: (bar: Bar, at: number) => string, between = ', '): string =>
  aim.targets.map(text).join(between);

const one = ({ rel }: Aim, { date, symbol }: Bar): string =>
  `${rel} b WHERE symbol = '${symbol}' AND date = '${date}'`;

/** One statement whose answer contains the values as numbers. */
const PACKING: Readonly<Record<string, Text>> = {
  'a concat of lead': (aim) =>
    `SELECT concat_ws('|', ${each(aim, (_, at) => `lead(${CENTS}, ${at}) OVER (ORDER BY date)`)}) AS v
     FROM ${aim.rel} b WHERE ${aim.where} ORDER BY date LIMIT 1`,
  'a concat of lag behind QUALIFY': (aim) =>
    `SELECT concat_ws('|', ${each(aim, (_, at) => `lag(${CENTS}, ${at}) OVER (ORDER BY date)`)}) AS v
     FROM ${aim.rel} b WHERE ${aim.where} QUALIFY row_number() OVER (ORDER BY date DESC) = 1`,
  'the nth values of a window': (aim) =>
    `SELECT ${each(aim, (_, at) => `nth_value(${CENTS}, ${at + 1}) OVER w AS v${at}`)} FROM ${aim.rel} b
     WHERE ${aim.where} WINDOW w AS (ORDER BY date ROWS BETWEEN UNBOUNDED PRECEDING
       AND UNBOUNDED FOLLOWING) LIMIT 1`,
  string_agg: (aim) => `SELECT string_agg(${CENTS}, '|') AS v FROM ${aim.rel} b WHERE ${aim.where}`,
  'string_agg by groups': (aim) =>
    `SELECT symbol, string_agg(${CENTS}, '|') AS v FROM ${aim.rel} b WHERE ${aim.where} GROUP BY symbol`,
  list: (aim) => `SELECT list(${CENTS}) AS v FROM ${aim.rel} b WHERE ${aim.where}`,
  'a list as a text': (aim) =>
    `SELECT CAST(array_agg(${CENTS} ORDER BY date) AS VARCHAR) AS v FROM ${aim.rel} b WHERE ${aim.where}`,
  'JSON in one text': (aim) =>
    `SELECT string_agg(concat('{"c":', ${CENTS}, '}')) AS v FROM ${aim.rel} b WHERE ${aim.where}`,
  'a pivot by CASE': (aim) =>
    `SELECT ${each(aim, ({ date }, at) => `max(CASE WHEN date = '${date}' THEN ${CENTS} END) AS v${at}`)}
     FROM ${aim.rel} b WHERE ${aim.where}`,
  'a pivot by FILTER': (aim) =>
    `SELECT ${each(aim, ({ date }, at) => `min(${CENTS}) FILTER (WHERE date = '${date}') AS v${at}`)}
     FROM ${aim.rel} b WHERE ${aim.where}`,
  'scalar sub-selects in one row': (aim) =>
    `SELECT ${each(aim, (bar, at) => `(SELECT ${CENTS} FROM ${one(aim, bar)}) AS v${at}`)}`,
  'scalar sub-selects in one text': (aim) =>
    each(
      aim,
      (bar) => `SELECT CAST((SELECT ${CENTS} FROM ${one(aim, bar)}) AS VARCHAR)`,
      ` || '|' || `,
    )
      .replaceAll("'|' || SELECT", "'|' ||")
      .concat(' AS v'),
  'a self-join in one row': (aim) =>
    `SELECT ${each(aim, (_, at) => `${centsIn(`b${at}`)} AS v${at}`)}
      FROM ${each(aim, (_, at) => `${aim.rel} b${at}`)}
     WHERE ${each(
       aim,
       ({ date, symbol }, at) => `b${at}.symbol = '${symbol}' AND b${at}.date = '${date}'`,
       ' AND ',
     )}`,
  DISTINCT: (aim) => `SELECT DISTINCT ${CENTS} AS v FROM ${aim.rel} b WHERE ${aim.where}`,
  'UNION with nothing': (aim) =>
    `SELECT ${CENTS} AS v FROM ${aim.rel} b WHERE ${aim.where} UNION SELECT n FROM NUMS WHERE n < 0`,
  'EXCEPT nothing': (aim) =>
    `SELECT ${CENTS} AS v FROM ${aim.rel} b WHERE ${aim.where} EXCEPT SELECT n FROM NUMS WHERE n < 0`,
  'INTERSECT with itself': (aim) =>
    `SELECT ${CENTS} AS v FROM ${aim.rel} b WHERE ${aim.where}
     INTERSECT SELECT ${CENTS} FROM ${aim.rel} b WHERE ${aim.where}`,
  'UNION ALL of single records': (aim) =>
    each(aim, (bar) => `SELECT ${CENTS} AS v FROM ${one(aim, bar)}`, ' UNION ALL '),
  'string_agg over UNION ALL': (aim) =>
    `SELECT string_agg(v, '|') AS v
      FROM (${each(aim, (bar) => `SELECT ${CENTS} AS v FROM ${one(aim, bar)}`, ' UNION ALL ')})`,
  'quantiles at every place': (aim) =>
    `SELECT ${each(aim, (_, at) => `quantile_disc(${CENTS}, ${(at + 0.5) / aim.targets.length}) AS v${at}`)}
     FROM ${aim.rel} b WHERE ${aim.where}`,
  'firsts in many orders': (aim) =>
    `SELECT ${each(aim, ({ date }, at) => `first(${CENTS} ORDER BY abs(date - DATE '${date}')) AS v${at}`)}
     FROM ${aim.rel} b WHERE ${aim.where}`,
  'arg_min of many distances': (aim) =>
    `SELECT ${each(aim, ({ date }, at) => `arg_min(${CENTS}, abs(date - DATE '${date}')) AS v${at}`)}
     FROM ${aim.rel} b WHERE ${aim.where}`,
  'LATERAL packs': (aim) =>
    `SELECT t.v FROM (SELECT DISTINCT symbol FROM KEYS LIMIT 1) k,
      LATERAL (SELECT string_agg(${CENTS}, '|') AS v
     FROM ${aim.rel} b WHERE ${aim.where}) t`,
  'own rows that carry scalars': (aim) =>
    `SELECT string_agg(v, '|') AS v FROM (SELECT n, (SELECT ${CENTS} FROM ${aim.rel} b WHERE ${aim.where}
     AND date = DATE '2024-01-02' + CAST(n AS INTEGER)) AS v FROM NUMS WHERE n < 14)`,
  'a histogram': (aim) =>
    `SELECT ${CENTS} AS v, count(*) AS n FROM ${aim.rel} b WHERE ${aim.where} GROUP BY ALL`,
  'ROLLUP of a value': (aim) =>
    `SELECT ${CENTS} AS v, max(date) AS d FROM ${aim.rel} b WHERE ${aim.where} GROUP BY ROLLUP (${CENTS})`,
  'a join with an own table as an oracle': (aim) =>
    `SELECT string_agg(v, '|') AS v FROM (SELECT 300 * k.n + l.n AS v FROM NUMS k, NUMS l, ${aim.rel} b
     WHERE ${aim.where} AND 300 * k.n + l.n = ${CENTS})`,
  'EXISTS as an oracle': (aim) =>
    `SELECT 300 * k.n + l.n AS v FROM NUMS k, NUMS l
     WHERE EXISTS (SELECT 1 FROM ${aim.rel} b WHERE ${aim.where} AND ${CENTS} = 300 * k.n + l.n)`,
  'IN as an oracle': (aim) =>
    `SELECT 300 * k.n + l.n AS v FROM NUMS k, NUMS l
     WHERE 300 * k.n + l.n IN (SELECT ${CENTS} FROM ${aim.rel} b WHERE ${aim.where})`,
  'a SEMI join as an oracle': (aim) =>
    `SELECT x.v AS v FROM (SELECT 300 * k.n + l.n AS v FROM NUMS k, NUMS l) x
     SEMI JOIN (SELECT ${CENTS} AS c FROM ${aim.rel} b WHERE ${aim.where}) y ON y.c = x.v`,
  'an own table that is folded with records': (aim) =>
    `SELECT string_agg(k.n * 0 + ${centsIn('b')}, '|') AS v FROM NUMS k JOIN ${aim.rel} b ON k.n = 1
      AND ${aim.where}`,
  'a fold over a page': (aim) =>
    `SELECT string_agg(v, '|') AS v FROM (SELECT ${CENTS} AS v FROM ${aim.rel} b WHERE ${aim.where}
      ORDER BY date LIMIT 100)`,
  'WITH that packs, named twice': (aim) =>
    `SELECT a.v || b.v AS v FROM (SELECT string_agg(${CENTS}, '|') AS v FROM ${aim.rel} b
      WHERE ${aim.where}) a,
     (SELECT max(${CENTS})::VARCHAR AS v FROM ${aim.rel} b WHERE ${aim.where}) b`,
  'a page in plain rows': (aim) =>
    `SELECT ${CENTS} AS v FROM ${aim.rel} b WHERE ${aim.where} LIMIT 100`,
  'an outer join that adds nothing': (aim) =>
    `SELECT ${centsIn('b')} AS v FROM ${aim.rel} b LEFT JOIN NUMS k ON k.n < 0 WHERE ${aim.where}`,
  'ASOF rows in one text': (aim) =>
    `SELECT string_agg(${centsIn('b')}, '|') AS v
      FROM (SELECT DATE '2024-01-01' + CAST(n AS INTEGER) AS day, '${aim.targets[0]?.symbol}' AS s
     FROM NUMS WHERE n < 14) k ASOF JOIN ${aim.rel} b ON b.symbol = k.s AND k.day >= b.date`,
};

const numbersIn = (body: string): readonly number[] => (body.match(/\d+/g) ?? []).map(Number);

/** Runs one packing statement, after the WITH clause of its relation. */
const packing = (name: string, text: Text, aim: Aim): Program => ({
  name: `${name} of ${aim.rel}`,
  run: async (_shop, call) => {
    const { body, status } = await call.sql(`${aim.common}${text(aim)}`);
    if (status !== 200) throw new Error(`${name}: ${body}\n${aim.common}${text(aim)}`);
    const numbers = new Set(numbersIn(body));
    return aim.targets.map(centsOf).filter((cents) => numbers.has(cents));
  },
});

/** Packs the values as digits of one number. */
const digits = (aim: Aim): Program => ({
  name: `digits of one number of ${aim.rel}`,
  run: async (_shop, call) => {
    const first = aim.targets[0]?.date ?? '';
    const place = `CAST(pow(100000, (date - DATE '${first}')) AS HUGEINT)`;
    const few = `${aim.where} AND date < DATE '${first}' + 7`;
    const text = `${aim.common}SELECT CAST(sum(CAST(${CENTS} AS HUGEINT) * ${place}) AS VARCHAR) AS v
      FROM ${aim.rel} b WHERE ${few}`;
    const { body, status } = await call.sql(text);
    if (status !== 200) throw new Error(`${body}\n${text}`);
    let rest = BigInt(/\d+/.exec(body)?.[0] ?? '0');
    const values: number[] = [];
    for (; rest > 0n; rest /= 100_000n) values.push(Number(rest % 100_000n));
    return aim.targets.map(centsOf).filter((cents) => values.includes(cents));
  },
});

/** Packs the values as characters of one text. */
const signs = (aim: Aim): Program => ({
  name: `signs of one text of ${aim.rel}`,
  run: async (_shop, call) => {
    const sign = `chr(CAST(1000 + ${CENTS} // 300 AS INTEGER)) || chr(CAST(1000 + ${CENTS} % 300 AS
      INTEGER))`;
    const text = `${aim.common}SELECT string_agg(${sign}, '' ORDER BY date) AS v FROM ${aim.rel} b
      WHERE ${aim.where}`;
    const { body, status } = await call.sql(text);
    if (status !== 200) throw new Error(`${body}\n${text}`);
    const [row] = JSON.parse(body) as readonly { readonly v: string }[];
    const codes = [...(row?.v ?? '')].map((one) => (one.codePointAt(0) ?? 0) - 1_000);
    const values = codes.flatMap((code, at) =>
      at % 2 === 0 ? [code * 300 + (codes[at + 1] ?? 0)] : [],
    );
    return aim.targets.map(centsOf).filter((cents) => values.includes(cents));
  },
});

/** A call that reveals whether a value is over a bound; a bit costs at least one object. */
type Bit = (aim: Aim, bar: Bar, bound: number) => string;

const BITS: Readonly<Record<string, readonly [text: Bit, isOver: (answer: Answer) => boolean]>> = {
  'a row or none': [
    (aim, bar, bound) => `SELECT 1 AS v FROM ${one(aim, bar)} AND ${CENTS} > ${bound}`,
    ({ body }) => body !== '[]',
  ],
  'a count': [
    (aim, bar, bound) => `SELECT count(*) AS v FROM ${one(aim, bar)} AND ${CENTS} > ${bound}`,
    ({ body }) => body.includes('1'),
  ],
  'a cast that fails': [
    (aim, bar, bound) =>
      `SELECT CASE WHEN ${CENTS} > ${bound} THEN CAST(concat('x', symbol) AS INTEGER) ELSE 0 END AS v
        FROM ${one(aim, bar)}`,
    ({ status }) => status === 400,
  ],
  'a cast that fails in a filter that matches nothing': [
    (aim, bar, bound) =>
      `SELECT 1 AS v FROM ${one(aim, bar)}
        AND CASE WHEN ${CENTS} > ${bound} THEN CAST(concat('x', symbol) AS INTEGER) ELSE 0 END = 1`,
    ({ status }) => status === 400,
  ],
  'a sub-select of two rows': [
    (aim, bar, bound) =>
      `SELECT (SELECT n FROM NUMS, ${one(aim, bar)} AND (n = 0 OR (n = 1 AND ${CENTS} > ${bound}))) AS v`,
    ({ status }) => status === 400,
  ],
  'the own row that a join lets through': [
    (aim, bar, bound) =>
      `SELECT k.n AS v FROM NUMS k WHERE k.n = 7 AND NOT EXISTS (SELECT 1 FROM ${one(aim, bar)}
        AND ${CENTS} > ${bound})`,
    ({ body }) => body === '[]',
  ],
  'an order': [
    (aim, bar, bound) =>
      `SELECT n AS v FROM NUMS WHERE n < 2 ORDER BY (SELECT CASE WHEN ${CENTS} > ${bound} THEN 1
        ELSE -1 END FROM ${one(aim, bar)}) * n LIMIT 1`,
    ({ body }) => body.includes('0'),
  ],
};

/** Learns one value by bisection. */
const bisection = (
  name: string,
  [text, isOver]: (typeof BITS)[string] & object,
  aim: Aim,
): Program => ({
  name: `bits by ${name} of ${aim.rel}`,
  run: async (_shop, call) => {
    const [bar] = aim.targets;
    if (bar === undefined) return [];
    let [least, most] = [0, 131_071];
    while (least < most) {
      const middle = Math.floor((least + most) / 2);
      const answer = await call.sql(`${aim.common}${text(aim, bar, middle)}`);
      if (answer.used === 0) throw new Error(`a bit for nothing: ${answer.status} ${answer.body}`);
      if (isOver(answer)) least = middle + 1;
      else most = middle;
    }
    return [least];
  },
});

/** Three values as the digits of one number, base 5: each row of NUMS is a guess of all three. */
const DIGITS = 3;
const guesses = ({ targets }: Aim, n: string): string => {
  const places = targets.slice(0, DIGITS).map(({ date }, at) => {
    const digit = `(${n} // ${5 ** at}) % 5`;
    return `WHEN DATE '${date}' THEN ${digit}`;
  });
  return `CASE b.date ${places.join(' ')} END`;
};
const placed = ({ targets }: Aim): string =>
  targets
    .slice(0, DIGITS)
    .map(({ date }, at) => `WHEN DATE '${date}' THEN ${5 ** at}`)
    .join(' ');
const few = ({ targets }: Aim): string =>
  `b.symbol = '${targets[0]?.symbol}' AND b.date <= '${targets[DIGITS - 1]?.date}'
   AND b.date >= '${targets[0]?.date}'`;
const wrong = (aim: Aim, n: string): string => `b.volume % 5 <> ${guesses(aim, n)}`;

/** As many rows as the number of those digits, followed by the rows of NUMS. */
const counting = (aim: Aim): string =>
  `(SELECT 0 AS kind, 0 AS n FROM CORE.BARS b, NUMS x
    WHERE ${few(aim)} AND x.n < (b.volume % 5) * CASE b.date ${placed(aim)} END
    UNION ALL SELECT 1 AS kind, n FROM NUMS)`;

/** Statements that return one row, from which `decode` computes the number. */
const JOINT: Readonly<Record<string, readonly [text: Text, decode: (row: number) => number]>> = {
  'an outer join that finds no wrong digit': [
    (
      aim,
    ) => `SELECT k.n AS v FROM NUMS k LEFT JOIN CORE.BARS b ON ${few(aim)} AND ${wrong(aim, 'k.n')}
      WHERE b.symbol IS NULL AND k.n < 125 LIMIT 1`,
    (row) => row,
  ],
  'an outer join from the right': [
    (aim) => `SELECT k.n AS v FROM MINE b RIGHT JOIN NUMS k ON ${few(aim)} AND ${wrong(aim, 'k.n')}
      WHERE b.symbol IS NULL AND k.n < 125 LIMIT 1`,
    (row) => row,
  ],
  'the worst record of LATERAL': [
    (
      aim,
    ) => `SELECT k.n AS v FROM NUMS k, LATERAL (SELECT CASE WHEN ${wrong(aim, 'k.n')} THEN 1 ELSE 0 END
      AS x FROM CORE.BARS b WHERE ${few(aim)} ORDER BY x DESC LIMIT 1) t WHERE t.x = 0 AND k.n < 125 LIMIT 1`,
    (row) => row,
  ],
  'the worst record of an ASOF join': [
    (aim) => `SELECT k.n AS v FROM (SELECT n, 100 AS h FROM NUMS WHERE n < 125) k
      ASOF JOIN (SELECT m.n AS id, CASE WHEN ${wrong(aim, 'm.n')} THEN 1 ELSE 0 END AS x
      FROM NUMS m, CORE.BARS b WHERE ${few(aim)} AND m.n < 125) r ON k.n = r.id AND k.h >= r.x
      WHERE r.x = 0 LIMIT 1`,
    (row) => row,
  ],
  'the rows before OFFSET': [
    (aim) => `SELECT n AS v FROM ${counting(aim)} u ORDER BY kind, n LIMIT 1 OFFSET 200`,
    (row) => 200 - row,
  ],
  'the rows that an inner LIMIT leaves': [
    (
      aim,
    ) => `SELECT n AS v FROM (SELECT kind, n FROM ${counting(aim)} u ORDER BY kind, n LIMIT 200) w
      WHERE kind = 1 ORDER BY n DESC LIMIT 1`,
    (row) => 199 - row,
  ],
};

const joint = (
  name: string,
  [text, decode]: (typeof JOINT)[string] & object,
  aim: Aim,
): Program => ({
  name: `digits by ${name}`,
  run: async (_shop, call) => {
    const { body, status } = await call.sql(text(aim));
    if (status !== 200) throw new Error(`${body}\n${text(aim)}`);
    const [row] = JSON.parse(body) as readonly { readonly v: number }[];
    const number = decode(row?.v ?? -1);
    const guessed = aim.targets.slice(0, DIGITS);
    const isRight = guessed.every(
      ({ volume }, at) => Math.floor(number / 5 ** at) % 5 === volume % 5,
    );
    return isRight ? guessed.map(centsOf) : [];
  },
});

/** Requests of the series endpoints: their aggregates, and their empty answers. */
const SERIES: Readonly<Record<string, (aim: Aim, call: Asking) => Promise<readonly number[]>>> = {
  'page by page': async ({ targets }, call) => {
    const values: number[] = [];
    for (const { date, symbol } of targets) {
      const { body } = await call.get(`/data/CORE/BARS/${symbol}?on=${date}&filter=close`);
      values.push(...(JSON.parse(body) as readonly Bar[]).map(centsOf));
    }
    return values;
  },
  'sums that grow': async ({ targets }, call) => {
    const values: number[] = [];
    let before = 0;
    const first = targets[0]?.date ?? '';
    for (const { date, symbol } of targets) {
      const range = `from=${first}&to=${date}`;
      const { body } = await call.get(
        `/data/CORE/BARS/${symbol}?${range}&transform=cumul&last=1&filter=close`,
      );
      const [row] = JSON.parse(body) as readonly Bar[];
      const sum = row === undefined ? before : centsOf(row);
      values.push(sum - before);
      before = sum;
    }
    return values;
  },
  'a view that packs': async ({ targets }, call) => {
    const { body } = await call.get(`/data/SHOP/PACKED/${targets[0]?.symbol}`);
    return numbersIn(body);
  },
  'a view of a view that packs': async ({ targets }, call) => {
    const { body } = await call.sql(
      `SELECT notes FROM PACKED WHERE symbol = '${targets[0]?.symbol}'`,
    );
    return numbersIn(body);
  },
  'subattributes, one by one': async ({ targets }, call) => {
    const [bar] = targets;
    if (bar === undefined) return [];
    for (let guess = centsOf(bar) - 3; ; guess += 1) {
      const subattribute = encodeURIComponent(`close|${guess / 100}`);
      const path = `/data/CORE/BARS/${bar.symbol}?on=${bar.date}&subattribute=${subattribute}`;
      const { body, used } = await call.get(path);
      if (used === 0) throw new Error('a guess for nothing');
      if (body !== '[]') return [guess];
    }
  },
  'a published query of weight 0': async ({ targets }, call) => {
    const { body } = await call.get(`/endpoints/SHOP/ABOVE?symbol=${targets[0]?.symbol}`);
    return (JSON.parse(body) as readonly Bar[]).map(centsOf);
  },
  'a batch': async ({ targets }, call) => {
    const { body } = await call.get(
      `/data/CORE/BARS,RATINGS/${targets[0]?.symbol}?last=12&filter=close,stars`,
    );
    return (JSON.parse(body) as readonly Bar[]).map(centsOf);
  },
};

/** `count` programs: each family in turn, each time with other records and another relation. */
export function programsOf(
  count: number,
  random: Seeded,
  bars: readonly Bar[],
): readonly Program[] {
  const makers: ((aim: Aim) => Program)[] = [
    ...Object.entries(PACKING).map(
      ([name, text]) =>
        (aim: Aim) =>
          packing(name, text, aim),
    ),
    digits,
    signs,
    ...Object.entries(BITS).map(
      ([name, bit]) =>
        (aim: Aim) =>
          bisection(name, bit, aim),
    ),
    ...Object.entries(JOINT).map(
      ([name, one]) =>
        (aim: Aim) =>
          joint(name, one, aim),
    ),
    ...Object.entries(SERIES).map(([name, run]) => (aim: Aim): Program => ({
      name,
      run: async (_shop, call) => {
        const values = await run(aim, call);
        const allCents = new Set(bars.map(centsOf));
        return values.filter((cents) => allCents.has(cents));
      },
    })),
  ];
  return Array.from({ length: count }, (_, at) => {
    const make = makers[at % makers.length];
    if (make === undefined) throw new Error('there are families');
    return make(aimOf(random, bars));
  });
}

/** A client for programs that adds up what their requests cost. */
export function meterOf(shop: Shop): Asking & { readonly paid: () => number } {
  let paid = 0;
  const recordPayment = (answer: Answer): Answer => {
    paid += answer.used;
    return answer;
  };
  return {
    sql: async (text) => recordPayment(await askSql(shop, text)),
    get: async (path) => recordPayment(await ask(shop, path)),
    paid: () => paid,
  };
}
