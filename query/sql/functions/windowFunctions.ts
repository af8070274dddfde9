// Functions of windows only.
import { toFunctions, type SqlFunction } from './functionRow.ts';

export const WINDOW_FUNCTIONS: readonly SqlFunction[] = toFunctions('window', [
  [
    'row_number()',
    'Number of the record in its partition.',
    "SELECT row_number() OVER (ORDER BY date DESC) FROM PRICES WHERE symbol = 'AAPL' ORDER BY date",
    '6',
  ],
  [
    'rank()',
    'Its rank, with gaps after equal values.',
    'SELECT rank() OVER (ORDER BY symbol) FROM PRICES ORDER BY symbol DESC',
    '7',
  ],
  [
    'dense_rank()',
    'Its rank, without gaps.',
    'SELECT dense_rank() OVER (ORDER BY symbol) FROM PRICES ORDER BY symbol DESC',
    '2',
  ],
  [
    'rank_dense()',
    'The same as dense_rank.',
    'SELECT rank_dense() OVER (ORDER BY symbol) FROM PRICES ORDER BY symbol DESC',
    '2',
  ],
  [
    'percent_rank()',
    'Its rank from 0 to 1.',
    "SELECT percent_rank() OVER (ORDER BY date) FROM PRICES WHERE symbol = 'AAPL' ORDER BY date DESC",
    '1',
  ],
  [
    'cume_dist()',
    'Share of the records that are not ordered after it.',
    'SELECT cume_dist() OVER (ORDER BY symbol) FROM PRICES ORDER BY symbol',
    '0.5',
  ],
  [
    'ntile(count)',
    'Number of its bucket, out of count buckets of equal size.',
    "SELECT ntile(3) OVER (ORDER BY date) FROM PRICES WHERE symbol = 'AAPL' ORDER BY date DESC",
    '3',
  ],
  [
    'lag(value[, offset[, default]])',
    'The value of the previous record, or of the one offset records before.',
    'SELECT lag(close) OVER (PARTITION BY symbol ORDER BY date) FROM PRICES ORDER BY symbol, date DESC',
    '185.56',
  ],
  [
    'lead(value[, offset[, default]])',
    'The value of the next record, or of the one offset records after.',
    'SELECT lead(close, 5, 0) OVER (PARTITION BY symbol ORDER BY date) FROM PRICES ORDER BY symbol, date',
    '185.14',
  ],
  [
    'first_value(value)',
    'The first value of the frame.',
    "SELECT first_value(close) OVER (ORDER BY date) FROM PRICES WHERE symbol = 'AAPL' ORDER BY date DESC",
    '185.64',
  ],
  [
    'last_value(value)',
    'The last value of the frame.',
    "SELECT last_value(close) OVER (ORDER BY date) FROM PRICES WHERE symbol = 'MSFT' ORDER BY date",
    '370.87',
  ],
  [
    'nth_value(value, n)',
    'The nth value of the frame.',
    "SELECT nth_value(close, 2) OVER (ORDER BY date) FROM PRICES WHERE symbol = 'AAPL' ORDER BY date DESC",
    '184.25',
  ],
  [
    'fill(value)',
    'A null replaced by linear interpolation between its neighbours.',
    'SELECT fill(v) OVER (ORDER BY d) FROM (VALUES (1, 2), (2, NULL), (3, 4)) t(d, v) ORDER BY d % 2',
    '3',
  ],
]);
