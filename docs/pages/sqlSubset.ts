// What a SELECT may have beside functions and operators, each with an example over PRICES.
export interface SqlFeature {
  readonly what: string;
  /** Lines of a query. */
  readonly example: readonly string[];
  /** The first record of the answer. */
  readonly answer: string;
  /** In the users' spelling, which DuckDB does not read as it is. */
  readonly ours: boolean;
}

interface SqlChapter {
  readonly title: string;
  readonly features: readonly SqlFeature[];
}

type Row = readonly [what: string, ...example: readonly string[], answer: string];

const features = (rows: readonly Row[], ours = false): readonly SqlFeature[] =>
  rows.map(([what, ...rest]) => ({
    what,
    example: rest.slice(0, -1),
    answer: rest.at(-1) ?? '',
    ours,
  }));

export const SUBSET: readonly SqlChapter[] = [
  {
    title: 'What is selected',
    features: features([
      [
        'expressions and aliases',
        'SELECT symbol, (high - low) / close AS spread FROM PRICES WHERE volume > 80000000',
        '{"symbol":"AAPL","spread":0.02450980392156869}',
      ],
      [
        'all columns, all but some, all of one table',
        'SELECT p.* EXCLUDE (open, high, low, note, detail) FROM PRICES p',
        'ORDER BY date, symbol LIMIT 1',
        '{"symbol":"AAPL","date":"2024-01-02","close":185.64,"volume":82488700}',
      ],
      [
        'some of them computed or called otherwise, in their places',
        'SELECT * EXCLUDE (open, high, low, note, detail) REPLACE (round(close) AS close)',
        'RENAME (volume AS shares) FROM PRICES ORDER BY date, symbol LIMIT 1',
        '{"symbol":"AAPL","date":"2024-01-02","close":186,"shares":82488700}',
      ],
      [
        'columns by a pattern of their names (RE2), also within an expression: one for each',
        "SELECT symbol, max(COLUMNS('^(high|close)$')) FROM PRICES GROUP BY symbol ORDER BY symbol",
        '{"symbol":"AAPL","high":188.44,"close":185.64}',
      ],
      [
        'rows as columns, and columns as rows, as far as the text names them',
        "SELECT * FROM PRICES PIVOT (max(close) FOR symbol IN ('AAPL' AS apple, 'MSFT') GROUP BY date)",
        'ORDER BY date LIMIT 1',
        '{"date":"2024-01-02","apple":185.64,"MSFT":370.87}',
      ],
      ['DISTINCT', 'SELECT DISTINCT symbol FROM PRICES ORDER BY symbol', '{"symbol":"AAPL"}'],
      [
        'DISTINCT ON: the first of each',
        'SELECT DISTINCT ON (symbol) symbol, date, close FROM PRICES',
        'ORDER BY symbol, date DESC',
        '{"symbol":"AAPL","date":"2024-01-09","close":185.14}',
      ],
      [
        'CASE',
        "SELECT date, CASE WHEN close > open THEN 'up' ELSE 'down' END AS day",
        'FROM PRICES ORDER BY date, symbol',
        '{"date":"2024-01-02","day":"down"}',
      ],
      [
        'COALESCE, NULLIF, IF',
        "SELECT COALESCE(NULLIF(note, ''), 'none') AS note, IF(close > open, 1, 0) AS up",
        'FROM PRICES ORDER BY date DESC, symbol',
        '{"note":"none","up":1}',
      ],
      [
        'CAST, TRY_CAST and ::',
        'SELECT CAST(close AS INTEGER) AS whole, TRY_CAST(note AS DATE) AS day, date::VARCHAR AS text',
        'FROM PRICES ORDER BY date, symbol',
        '{"whole":186,"day":null,"text":"2024-01-02"}',
      ],
      [
        'without a table',
        "SELECT DATE '2024-01-31' + INTERVAL 1 MONTH AS due",
        '{"due":"2024-02-29T00:00:00.000Z"}',
      ],
    ]),
  },
  {
    title: 'Which records',
    features: features([
      [
        'WHERE with AND, OR, NOT and comparisons',
        'SELECT count(*) AS n FROM PRICES',
        "WHERE symbol = 'AAPL' AND NOT (close <= open OR volume < 50000000)",
        '{"n":2}',
      ],
      [
        'BETWEEN',
        "SELECT count(*) AS n FROM PRICES WHERE date BETWEEN '2024-01-03' AND '2024-01-05'",
        '{"n":6}',
      ],
      ['IN', "SELECT count(*) AS n FROM PRICES WHERE symbol IN ('MSFT', 'IBM')", '{"n":6}'],
      [
        'LIKE and ILIKE, with ESCAPE',
        'SELECT count(*) AS n FROM PRICES',
        "WHERE symbol LIKE 'A%' OR note ILIKE 'RECORD!_C%' ESCAPE '!'",
        '{"n":6}',
      ],
      [
        'IS NULL, IS DISTINCT FROM',
        "SELECT count(*) AS n FROM PRICES WHERE note IS NOT NULL AND note IS DISTINCT FROM ''",
        '{"n":4}',
      ],
      [
        'LIMIT and OFFSET, as whole numbers',
        "SELECT date FROM PRICES WHERE symbol = 'AAPL' ORDER BY date LIMIT 2 OFFSET 1",
        '{"date":"2024-01-03"}',
      ],
      [
        'ORDER BY with NULLS FIRST or LAST',
        "SELECT date, NULLIF(note, '') AS note FROM PRICES WHERE symbol = 'MSFT'",
        'ORDER BY note DESC NULLS LAST',
        '{"date":"2024-01-09","note":"record close"}',
      ],
      [
        'ORDER BY a number of the list, or ALL',
        'SELECT symbol, date FROM PRICES ORDER BY 1 DESC, 2 DESC',
        '{"symbol":"MSFT","date":"2024-01-09"}',
      ],
    ]),
  },
  {
    title: 'Groups',
    features: features([
      [
        'GROUP BY a column, an expression',
        'SELECT dayname(date) AS day, count(*) AS n FROM PRICES',
        'GROUP BY dayname(date) ORDER BY day',
        '{"day":"Friday","n":2}',
      ],
      [
        'GROUP BY an alias, a number of the list',
        "SELECT symbol, date_trunc('week', date)::DATE AS week, max(high) AS high",
        'FROM PRICES GROUP BY 1, week ORDER BY 1, 2',
        '{"symbol":"AAPL","week":"2024-01-01","high":188.44}',
      ],
      [
        'GROUP BY ALL: by all that is no aggregate',
        'SELECT symbol, avg(volume) AS volume FROM PRICES GROUP BY ALL ORDER BY ALL',
        '{"symbol":"AAPL","volume":62862733.333333336}',
      ],
      [
        'HAVING',
        'SELECT symbol, min(low) AS low FROM PRICES GROUP BY symbol HAVING max(high) > 200',
        '{"symbol":"MSFT","low":366.5}',
      ],
      [
        'ROLLUP: with totals',
        'SELECT symbol, count(*) AS n FROM PRICES GROUP BY ROLLUP (symbol)',
        'ORDER BY symbol NULLS FIRST',
        '{"symbol":null,"n":12}',
      ],
      [
        'CUBE: with all totals',
        'SELECT symbol, year(date) AS year, count(*) AS n FROM PRICES',
        'GROUP BY CUBE (symbol, year(date)) ORDER BY symbol NULLS FIRST, 2',
        '{"symbol":null,"year":2024,"n":12}',
      ],
      [
        'GROUPING SETS, and GROUPING to identify them',
        'SELECT symbol, GROUPING(symbol) AS total, sum(volume) AS volume FROM PRICES',
        'GROUP BY GROUPING SETS ((symbol), ()) ORDER BY total DESC',
        '{"symbol":null,"total":1,"volume":511371000}',
      ],
      [
        'FILTER of an aggregate',
        'SELECT count(*) FILTER (WHERE close > open) AS up FROM PRICES',
        '{"up":6}',
      ],
      [
        'ORDER BY and DISTINCT within an aggregate',
        'SELECT first(close ORDER BY date DESC) AS close, count(DISTINCT note) AS notes',
        "FROM PRICES WHERE symbol = 'AAPL'",
        '{"close":185.14,"notes":3}',
      ],
      [
        'WITHIN GROUP',
        'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY close) AS middle',
        "FROM PRICES WHERE symbol = 'AAPL'",
        '{"middle":184.695}',
      ],
    ]),
  },
  {
    title: 'Windows',
    features: features([
      [
        'OVER with PARTITION BY and ORDER BY',
        'SELECT symbol, date, close - lag(close) OVER (PARTITION BY symbol ORDER BY date) AS change',
        'FROM PRICES ORDER BY change DESC NULLS LAST',
        '{"symbol":"MSFT","date":"2024-01-08","change":6.939999999999998}',
      ],
      [
        'a frame of ROWS, RANGE or GROUPS',
        'SELECT date, round(avg(close) OVER (ORDER BY date',
        'ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), 2) AS average',
        "FROM PRICES WHERE symbol = 'AAPL' ORDER BY date DESC",
        '{"date":"2024-01-09","average":183.96}',
      ],
      [
        'a frame of time',
        'SELECT date, sum(volume) OVER (ORDER BY date',
        'RANGE BETWEEN INTERVAL 3 DAYS PRECEDING AND CURRENT ROW) AS volume',
        "FROM PRICES WHERE symbol = 'MSFT' ORDER BY date DESC",
        '{"date":"2024-01-09","volume":43964000}',
      ],
      [
        'EXCLUDE',
        'SELECT date, max(close) OVER (ORDER BY date',
        'ROWS BETWEEN 5 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS before',
        "FROM PRICES WHERE symbol = 'MSFT' ORDER BY date DESC",
        '{"date":"2024-01-09","before":374.69}',
      ],
      [
        'a window with a name',
        "SELECT date, rank() OVER w AS place FROM PRICES WHERE symbol = 'AAPL'",
        'WINDOW w AS (ORDER BY close DESC) ORDER BY place',
        '{"date":"2024-01-02","place":1}',
      ],
      [
        'IGNORE NULLS',
        "SELECT date, last_value(NULLIF(note, '') IGNORE NULLS) OVER (ORDER BY date) AS note",
        "FROM PRICES WHERE symbol = 'AAPL' ORDER BY date DESC",
        '{"date":"2024-01-09","note":"downgraded"}',
      ],
      [
        'QUALIFY: WHERE for windows',
        'SELECT symbol, date, volume FROM PRICES',
        'QUALIFY row_number() OVER (PARTITION BY symbol ORDER BY volume DESC) = 1',
        'ORDER BY symbol',
        '{"symbol":"AAPL","date":"2024-01-02","volume":82488700}',
      ],
    ]),
  },
  {
    title: 'Several tables',
    features: features([
      [
        'INNER JOIN with ON or USING',
        'SELECT a.date, a.close / m.close AS ratio FROM PRICES a',
        "JOIN PRICES m USING (date) WHERE a.symbol = 'AAPL' AND m.symbol = 'MSFT'",
        'ORDER BY a.date',
        '{"date":"2024-01-02","ratio":0.5005527543344028}',
      ],
      [
        'LEFT, RIGHT, FULL JOIN',
        'SELECT a.date, b.date AS next FROM PRICES a',
        'LEFT JOIN PRICES b ON b.symbol = a.symbol AND b.date = a.date + 1',
        "WHERE a.symbol = 'AAPL' ORDER BY a.date DESC",
        '{"date":"2024-01-09","next":null}',
      ],
      ['CROSS JOIN', 'SELECT count(*) AS n FROM PRICES a CROSS JOIN PRICES b', '{"n":144}'],
      [
        'SEMI and ANTI JOIN: with and without a fellow',
        'SELECT count(*) AS n FROM PRICES a',
        'ANTI JOIN PRICES b ON b.symbol = a.symbol AND b.date > a.date',
        '{"n":2}',
      ],
      [
        'ASOF JOIN: the newest one not after it',
        "SELECT d.day, p.close FROM (VALUES (DATE '2024-01-07')) d(day)",
        "ASOF JOIN PRICES p ON d.day >= p.date AND p.symbol = 'AAPL'",
        '{"day":"2024-01-07","close":181.18}',
      ],
      [
        'a sub-select as a table',
        'SELECT max(n) AS n',
        'FROM (SELECT symbol, count(*) AS n FROM PRICES GROUP BY symbol) AS counts',
        '{"n":6}',
      ],
      [
        'a sub-select as a value',
        'SELECT date FROM PRICES WHERE close = (SELECT max(close) FROM PRICES)',
        '{"date":"2024-01-09"}',
      ],
      [
        'IN, EXISTS, ANY, ALL of a sub-select',
        'SELECT DISTINCT symbol FROM PRICES p',
        'WHERE close > ALL (SELECT close FROM PRICES o WHERE o.symbol <> p.symbol)',
        '{"symbol":"MSFT"}',
      ],
      [
        'a lateral sub-select',
        'SELECT s.symbol, t.close FROM (SELECT DISTINCT symbol FROM PRICES) s,',
        'LATERAL (SELECT close FROM PRICES p WHERE p.symbol = s.symbol ORDER BY date DESC LIMIT 1) t',
        'ORDER BY s.symbol',
        '{"symbol":"AAPL","close":185.14}',
      ],
      [
        'WITH',
        'WITH highs AS (SELECT symbol, max(high) AS high FROM PRICES GROUP BY symbol)',
        'SELECT p.symbol, p.date FROM PRICES p JOIN highs USING (symbol, high)',
        'ORDER BY p.symbol',
        '{"symbol":"AAPL","date":"2024-01-02"}',
      ],
      [
        'UNION, INTERSECT, EXCEPT, with ALL',
        "SELECT date FROM PRICES WHERE symbol = 'AAPL'",
        'EXCEPT SELECT date FROM PRICES WHERE volume > 60000000 ORDER BY date',
        '{"date":"2024-01-03"}',
      ],
      [
        'UNION BY NAME',
        'SELECT 1 AS a UNION ALL BY NAME SELECT 2 AS b ORDER BY a NULLS LAST',
        '{"a":1,"b":null}',
      ],
      [
        'VALUES',
        'SELECT w.symbol, w.weight',
        "FROM (VALUES ('AAPL', 60), ('MSFT', 40)) AS w(symbol, weight)",
        'ORDER BY w.weight',
        '{"symbol":"MSFT","weight":40}',
      ],
    ]),
  },
  {
    title: 'Spelling',
    features: [
      ...features([
        ['tables in any case', 'SELECT count(*) AS n FROM prices', '{"n":12}'],
        [
          'comments',
          'SELECT count(*) AS n /* of all */ FROM PRICES -- to the end of the line',
          '{"n":12}',
        ],
      ]),
      ...features(
        [
          [
            'texts in single or double quotes',
            'SELECT count(*) AS n FROM PRICES WHERE symbol = "AAPL"',
            '{"n":6}',
          ],
          [
            'names in back-ticks',
            'SELECT `close` AS `closing price` FROM `PRICES` ORDER BY `date`, `symbol`',
            '{"closing price":185.64}',
          ],
          [
            "parameters, here of the values 'AAPL' and '2024-01-05'",
            'SELECT count(*) AS n FROM PRICES WHERE symbol = :symbol AND date >= $since',
            '{"n":3}',
          ],
        ],
        true,
      ),
    ],
  },
];
