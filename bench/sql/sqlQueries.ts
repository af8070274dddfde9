// Forty typical queries over the quotes and trades of sqlData.ts. Each has the same text for the SQL endpoint
// and for bare DuckDB, and one correct result, so that both can be compared.

export interface BenchQuery {
  readonly name: string;
  readonly sql: string;
  /** JSON by default; CSV for large results. */
  readonly format?: 'csv';
}

const DAY = `time >= TIMESTAMP '2024-03-12 00:00:00' AND time < TIMESTAMP '2024-03-13 00:00:00'`;
const BARS = `SELECT symbol, time::DATE AS day, arg_min(price, time) AS open, max(price) AS high,
    min(price) AS low, arg_max(price, time) AS close, sum(size) AS volume
  FROM TRADES GROUP BY symbol, day`;
const CLOSES = `SELECT symbol, time::DATE AS day, arg_max(price, time) AS close
  FROM TRADES GROUP BY symbol, day`;

/** Queries of one symbol, of small tables and of statistics, as screens send them. */
const SHORT: readonly BenchQuery[] = [
  { name: 'no table', sql: 'SELECT 1 AS one' },
  { name: 'one company', sql: `SELECT * FROM COMPANIES WHERE symbol = 'S0042'` },
  {
    name: 'companies by sector',
    sql: 'SELECT sector, count(*) AS n, sum(shares) AS shares FROM COMPANIES GROUP BY 1 ORDER BY 1',
  },
  { name: 'number of trades', sql: 'SELECT count(*) AS n FROM TRADES' },
  { name: 'first and last moment', sql: 'SELECT min(time) AS a, max(time) AS b FROM TRADES' },
  {
    name: 'last quote of a symbol',
    sql: `SELECT * FROM QUOTES WHERE symbol = 'S0123' ORDER BY time DESC LIMIT 1`,
  },
  {
    name: 'last 30 trades of a symbol',
    sql: `SELECT time, price, size FROM TRADES WHERE symbol = 'S0042' ORDER BY time DESC LIMIT 30`,
  },
  {
    name: 'last price of ten symbols',
    sql: `SELECT symbol, arg_max(price, time) AS price FROM TRADES WHERE symbol IN ('S0003', 'S0014',
      'S0159', 'S0265', 'S0358', 'S0397', 'S0400', 'S0420', 'S0444', 'S0499') GROUP BY 1 ORDER BY 1`,
  },
  {
    name: 'VWAP of a symbol on a day',
    sql: `SELECT sum(price * size) / sum(size) AS vwap, sum(size) AS volume FROM TRADES
      WHERE symbol = 'S0042' AND ${DAY}`,
  },
  {
    name: 'OHLC by minute, a symbol, a day',
    sql: `SELECT date_trunc('minute', time) AS minute, arg_min(price, time) AS open,
        max(price) AS high, min(price) AS low, arg_max(price, time) AS close, sum(size) AS volume
      FROM TRADES WHERE symbol = 'S0042' AND ${DAY} GROUP BY 1 ORDER BY 1`,
  },
  {
    name: 'spread by five minutes, a symbol',
    sql: `SELECT time_bucket(INTERVAL 5 MINUTES, time) AS bucket, avg(ask - bid) AS spread
      FROM QUOTES WHERE symbol = 'S0077' AND ${DAY} GROUP BY bucket ORDER BY bucket`,
  },
  {
    name: 'running volume of a symbol',
    sql: `SELECT time, sum(size) OVER (ORDER BY time) AS volume FROM TRADES
      WHERE symbol = 'S0042' AND ${DAY} ORDER BY time`,
  },
  {
    name: 'rolling mean of 20 trades',
    sql: `SELECT time, price, avg(price) OVER (ORDER BY time ROWS BETWEEN 19 PRECEDING AND CURRENT ROW)
        AS mean FROM TRADES WHERE symbol = 'S0100' ORDER BY time DESC LIMIT 500`,
  },
  {
    name: 'rolling volume of five minutes',
    sql: `SELECT time, sum(size) OVER (ORDER BY time RANGE BETWEEN INTERVAL 5 MINUTES PRECEDING
        AND CURRENT ROW) AS volume
      FROM TRADES WHERE symbol = 'S0101' ORDER BY volume DESC, time LIMIT 20`,
  },
  {
    name: 'as-of join, a symbol',
    sql: `SELECT t.time, t.price, q.bid, q.ask FROM TRADES t
      ASOF JOIN QUOTES q ON t.symbol = q.symbol AND t.time >= q.time
      WHERE t.symbol = 'S0042' AND q.symbol = 'S0042' ORDER BY t.time DESC LIMIT 200`,
  },
  {
    name: 'trades by side, a symbol',
    sql: `SELECT CASE WHEN t.price >= q.ask THEN 'buy' WHEN t.price <= q.bid THEN 'sell' ELSE 'mid' END
        AS side, count(*) AS n, sum(t.size) AS volume
      FROM (SELECT * FROM TRADES WHERE symbol = 'S0200') t
      ASOF JOIN (SELECT * FROM QUOTES WHERE symbol = 'S0200') q
        ON t.symbol = q.symbol AND t.time >= q.time GROUP BY side ORDER BY side`,
  },
  {
    name: 'correlation of two symbols by minute',
    sql: `WITH bars AS (SELECT symbol, date_trunc('minute', time) AS minute, avg(price) AS price
        FROM TRADES WHERE symbol IN ('S0010', 'S0020') GROUP BY ALL)
      SELECT corr(a.price, b.price) AS corr, count(*) AS n
      FROM bars a JOIN bars b USING (minute) WHERE a.symbol = 'S0010' AND b.symbol = 'S0020'`,
  },
  {
    name: 'tape of a symbol: trades and quotes',
    sql: `SELECT time, 'trade' AS kind, price FROM TRADES WHERE symbol = 'S0005' AND ${DAY}
      UNION ALL SELECT time, 'quote', (bid + ask) / 2 FROM QUOTES WHERE symbol = 'S0005' AND ${DAY}
      ORDER BY time, kind, price LIMIT 1000`,
  },
];

/** Queries of all symbols, as reports send them. */
const LONG: readonly BenchQuery[] = [
  {
    name: 'last trade of each symbol',
    sql: `SELECT symbol, arg_max(price, time) AS price, max(time) AS time FROM TRADES
      GROUP BY symbol ORDER BY symbol`,
  },
  {
    name: 'last quote of each symbol, DISTINCT ON',
    sql: `SELECT DISTINCT ON (symbol) symbol, time, bid, ask FROM QUOTES ORDER BY symbol, time DESC`,
  },
  { name: 'OHLC by day', sql: `${BARS} ORDER BY symbol, day`, format: 'csv' },
  {
    name: 'OHLC by minute on a day',
    sql: `SELECT symbol, date_trunc('minute', time) AS minute, arg_min(price, time) AS open,
        max(price) AS high, min(price) AS low, arg_max(price, time) AS close
      FROM TRADES WHERE ${DAY} GROUP BY symbol, minute ORDER BY symbol, minute`,
    format: 'csv',
  },
  {
    name: 'VWAP by day',
    sql: `SELECT symbol, time::DATE AS day, sum(price * size) / sum(size) AS vwap FROM TRADES
      GROUP BY ALL ORDER BY symbol, day`,
    format: 'csv',
  },
  {
    name: 'daily volume',
    sql: `SELECT time::DATE AS day, count(*) AS trades, sum(size) AS volume,
        sum(price * size) AS turnover FROM TRADES GROUP BY day ORDER BY day`,
  },
  {
    name: 'volume by venue and hour',
    sql: `SELECT venue, hour(time) AS hour, sum(size) AS volume, avg(price) AS price
      FROM TRADES GROUP BY venue, hour(time) ORDER BY 1, 2`,
  },
  {
    name: 'top movers of a day',
    sql: `WITH day AS (SELECT symbol, arg_min(price, time) AS open, arg_max(price, time) AS close
        FROM TRADES WHERE ${DAY} GROUP BY symbol)
      SELECT symbol, open, close, close / open - 1 AS move FROM day
      ORDER BY abs(close / open - 1) DESC, symbol LIMIT 20`,
  },
  {
    name: 'distinct counts',
    sql: `SELECT venue, count(DISTINCT symbol) AS symbols, count(DISTINCT time::DATE) AS days,
        count(DISTINCT price) AS prices FROM TRADES GROUP BY venue ORDER BY venue`,
  },
  {
    name: 'widest spreads',
    sql: `SELECT symbol, avg((ask - bid) / ((ask + bid) / 2)) * 10000 AS points, max(ask - bid) AS most
      FROM QUOTES GROUP BY symbol HAVING count(*) > 10 ORDER BY points DESC, symbol LIMIT 25`,
  },
  {
    name: 'percentiles of size by venue',
    sql: `SELECT venue, quantile_cont(size, 0.5) AS p50, quantile_cont(size, 0.9) AS p90,
        quantile_cont(size, 0.99) AS p99 FROM TRADES GROUP BY venue ORDER BY venue`,
  },
  {
    name: 'median spread of each symbol',
    sql: `SELECT symbol, median(ask - bid) AS spread, count(*) AS quotes FROM QUOTES
      GROUP BY symbol ORDER BY symbol`,
  },
  {
    name: 'longest gaps between trades',
    sql: `SELECT symbol, max(gap) AS longest, count_if(gap > 30000) AS many FROM (
        SELECT symbol, epoch_ms(time) - lag(epoch_ms(time))
          OVER (PARTITION BY symbol, time::DATE ORDER BY time) AS gap FROM TRADES) gaps
      GROUP BY symbol ORDER BY longest DESC, symbol LIMIT 50`,
  },
  {
    name: 'volatility from daily closes',
    sql: `WITH closes AS (${CLOSES}), moves AS (
        SELECT symbol, ln(close / lag(close) OVER (PARTITION BY symbol ORDER BY day)) AS move FROM closes)
      SELECT symbol, stddev(move) * sqrt(252) AS volatility FROM moves GROUP BY symbol ORDER BY symbol`,
  },
  {
    name: 'moving average of five closes',
    sql: `WITH closes AS (${CLOSES})
      SELECT symbol, day, close, avg(close) OVER (PARTITION BY symbol ORDER BY day
        ROWS BETWEEN 4 PRECEDING AND CURRENT ROW) AS mean FROM closes
      QUALIFY close > 1.02 * mean ORDER BY symbol, day`,
  },
  {
    name: 'correlations of ten symbols',
    sql: `WITH closes AS (SELECT * FROM (${CLOSES}) c WHERE symbol < 'S0010')
      SELECT a.symbol AS left_symbol, b.symbol AS right_symbol, corr(a.close, b.close) AS corr
      FROM closes a JOIN closes b ON a.day = b.day AND a.symbol < b.symbol
      GROUP BY 1, 2 ORDER BY 1, 2`,
  },
  {
    name: 'as-of join of a day, effective spread',
    sql: `SELECT t.symbol, avg(2 * abs(t.price - (q.bid + q.ask) / 2)) AS spread, count(*) AS trades
      FROM (SELECT symbol, time, price FROM TRADES WHERE ${DAY}) t
      ASOF JOIN (SELECT symbol, time, bid, ask FROM QUOTES WHERE ${DAY}) q
        ON t.symbol = q.symbol AND t.time >= q.time GROUP BY t.symbol ORDER BY t.symbol`,
  },
  {
    name: 'turnover by sector',
    sql: `SELECT c.sector, sum(t.price * t.size) AS turnover, count(DISTINCT t.symbol) AS symbols
      FROM TRADES t JOIN COMPANIES c USING (symbol) GROUP BY c.sector ORDER BY turnover DESC`,
  },
  {
    name: 'largest trades, with names',
    sql: `SELECT t.symbol, c.name, t.time, t.price * t.size AS value FROM TRADES t
      LEFT JOIN COMPANIES c USING (symbol) ORDER BY value DESC, t.symbol, t.time LIMIT 100`,
  },
  {
    name: 'symbols without a company',
    sql: `SELECT symbol, sum(size) AS volume FROM TRADES t
      ANTI JOIN COMPANIES c ON c.symbol = t.symbol GROUP BY symbol ORDER BY symbol`,
  },
  {
    name: 'rank within the sector, totals',
    sql: `SELECT c.sector, t.venue, sum(t.size) AS volume,
        rank() OVER (PARTITION BY c.sector ORDER BY sum(t.size) DESC) AS place
      FROM TRADES t JOIN COMPANIES c ON c.symbol = t.symbol AND c.country = 'US'
      GROUP BY ROLLUP (c.sector, t.venue) ORDER BY 1 NULLS FIRST, 2 NULLS FIRST`,
  },
  {
    name: 'trades of a venue on a day',
    sql: `SELECT symbol, time, price, size FROM TRADES WHERE venue = 'IEXG' AND ${DAY}
      ORDER BY symbol, time`,
    format: 'csv',
  },
];

export const QUERIES: readonly BenchQuery[] = [...SHORT, ...LONG];
