// Identifiers: valid texts, and the symbol of an identifier on a day.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import {
  looksLikeIdentifier,
  symbolOfId,
  symbolsById,
} from '../../market/symbology/identifiers.ts';

const ROWS = [
  {
    symbol: 'OLD',
    validFrom: '2001-01-01',
    validTo: '2020-12-31',
    isin: 'US5949181045',
    cik: '789019',
  },
  { symbol: 'NEW', validFrom: '2021-01-01', validTo: null, isin: 'US5949181045', cik: 789019 },
  { symbol: '7203', validFrom: null, validTo: null, isin: 'JP3633400001' },
  { symbol: 'OTHER', validFrom: null, validTo: null, cik: '7203' },
];

test('an identifier is resolved to its symbol on the day', () => {
  assert.equal(symbolOfId('US5949181045', symbolsById(ROWS, '2024-02-29')), 'NEW');
  assert.equal(symbolOfId('US5949181045', symbolsById(ROWS, '2019-02-28')), 'OLD');
  assert.equal(symbolOfId('US5949181045', symbolsById(ROWS, '2020-12-31')), 'OLD');
});

test('a CIK is found in all common notations', () => {
  const symbols = symbolsById(ROWS, '2024-02-29');
  for (const text of ['789019', '0000789019', 'CIK0000789019']) {
    assert.ok(looksLikeIdentifier(text), text);
    assert.equal(symbolOfId(text, symbols), 'NEW', text);
  }
});

test('a ticker of digits is a ticker, even if it is the CIK of another symbol', () => {
  assert.equal(symbolOfId('7203', symbolsById(ROWS, '2024-02-29')), '7203');
});

test('common tickers are not mistaken for identifiers', () => {
  for (const ticker of ['AAPL', 'BRK.A', 'BF-B', 'SYNDEX', 'A', 'GOOGL', '']) {
    assert.ok(!looksLikeIdentifier(ticker), ticker);
  }
});
