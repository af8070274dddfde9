// Error bodies of vendors, with the sentence of each, and records that resemble one.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'vitest';
import { findErrorText } from '../../../pipeline/bytes/errorDocument.ts';

const ERRORS: readonly (readonly [vendor: string, body: string, sentence: string])[] = [
  ['Binance', '{"code":-1003,"msg":"Too many requests"}', 'Too many requests'],
  ['Quandl', '{"quandl_error":{"code":"QECx02","message":"incorrect code"}}', 'incorrect code'],
  ['Finnhub', '{"s":"no_data"}', 'no_data'],
  [
    'Finnhub',
    '{"error":"You don\'t have access to this resource."}',
    "You don't have access to this resource.",
  ],
  ['UDF', '{"s":"error","errmsg":"unknown_symbol"}', 'unknown_symbol'],
  ['UDF', '{"s":"no_data","nextTime":1428001140000}', 'no_data'],
  ['UDF', '{"s":"no_data","t":[],"o":[],"c":[]}', 'no_data'],
  [
    'Alpha Vantage',
    '{"Note":"Thank you for using Alpha Vantage!"}',
    'Thank you for using Alpha Vantage!',
  ],
  ['Alpha Vantage', '{"Information":"The demo API key"}', 'The demo API key'],
  ['Alpha Vantage', '{"Error Message":"Invalid API call."}', 'Invalid API call.'],
  ['Polygon', '{"status":"ERROR","request_id":"6a","error":"Unknown API Key"}', 'Unknown API Key'],
  [
    'Polygon',
    '{"status":"NOT_AUTHORIZED","request_id":"6a","message":"You are not entitled to this data."}',
    'You are not entitled to this data.',
  ],
  ['Tiingo', '{"detail":"Please supply a token"}', 'Please supply a token'],
  ['EODHD', 'Ticker Not Found.', 'Ticker Not Found.'],
  ['EODHD', 'Unauthenticated', 'Unauthenticated'],
  [
    'Twelve Data',
    '{"code":404,"message":"**symbol** not found: X","status":"error","meta":{"symbol":"X"}}',
    '**symbol** not found: X',
  ],
  [
    'FMP',
    '{"Error Message":"Limit Reach . Please upgrade your plan"}',
    'Limit Reach . Please upgrade your plan',
  ],
  ['Kraken', '{"error":["EQuery:Unknown asset pair"]}', 'EQuery:Unknown asset pair'],
  ['Kraken', '{"error":["EGeneral:Invalid arguments"],"result":{}}', 'EGeneral:Invalid arguments'],
  ['Coinbase', '{"message":"NotFound"}', 'NotFound'],
  ['IEX', 'Unknown symbol', 'Unknown symbol'],
  ['IEX', 'The API key provided is not valid.', 'The API key provided is not valid.'],
  [
    'Yahoo',
    '{"chart":{"result":null,"error":{"code":"Not Found","description":"No data found"}}}',
    'No data found',
  ],
  [
    'Yahoo',
    '{"finance":{"result":null,"error":{"code":"Unauthorized","description":"Invalid Crumb"}}}',
    'Invalid Crumb',
  ],
  ['Stooq', 'No data', 'No data'],
  ['Stooq', 'Exceeded the daily hits limit', 'Exceeded the daily hits limit'],
  [
    'Nasdaq',
    '{"data":null,"message":null,"status":{"rCode":400,"bCodeMessage":' +
      '[{"code":1001,"errorMessage":"Symbol not exists."}],"developerMessage":null}}',
    'Symbol not exists.',
  ],
  [
    'OKX',
    '{"code":"51001","data":[],"msg":"Instrument ID does not exist"}',
    'Instrument ID does not exist',
  ],
  [
    'Bybit',
    '{"retCode":10001,"retMsg":"params error","result":{},"retExtInfo":{},"time":1}',
    'params error',
  ],
  ['Bitfinex', '["error",10020,"symbol: invalid"]', '10020 symbol: invalid'],
  [
    'Huobi',
    '{"status":"error","err-code":"invalid-parameter","err-msg":"invalid symbol","ts":1,"data":null}',
    'invalid-parameter',
  ],
  ['FRED', '{"error_code":400,"error_message":"Bad Request."}', 'Bad Request.'],
  [
    'CoinGecko',
    '{"status":{"error_code":429,"error_message":"You exceeded the rate limit."}}',
    'You exceeded the rate limit.',
  ],
  ['RFC 9457', '{"type":"about:blank","title":"Forbidden","status":403}', 'Forbidden'],
];

for (const [vendor, body, sentence] of ERRORS) {
  test(`${vendor}: ${sentence}`, () => {
    const errorText = findErrorText(Buffer.from(body));
    assert.ok(errorText?.includes(`an error ("${sentence}`), `${errorText}`);
  });
}

const RECORDS: readonly string[] = [
  '[{"code":1,"message":"a"},{"code":2,"message":"b"}]',
  '{"code":404,"message":"b","at":"2024-01-01"}',
  '{"symbol":"A","error":0.25}',
  '{"status":"open","code":"XNYS"}',
  '{"s":"ok","t":[1],"c":[2]}',
  '{"error":[],"result":{"XXBTZUSD":[[1,2]]}}',
  '{"status":"OK","results":[{"c":1}],"message":"delayed"}',
  '{"chart":{"result":[{"meta":{}}],"error":null}}',
  '{"AAPL":{"message":"a"}}',
  '{"code":200,"title":"x"}',
  'symbol,close\nA,1\n',
  'message',
  'note,error\nnot found,1\n',
  'Ticker Not Found;1',
];

for (const vendor of ['binance', 'quandl', 'finnhub']) {
  test(`a recorded body of ${vendor}`, async () => {
    const inputs = join(import.meta.dirname, '..', 'hostile', 'inputs');
    const body = await readFile(join(inputs, `p42-error-bodies.${vendor}.json`));
    assert.match(findErrorText(body) ?? '', /^an error \("/);
  });
}

for (const body of RECORDS) {
  test(`records: ${body.slice(0, 50)}`, () => {
    assert.equal(findErrorText(Buffer.from(body)), undefined);
  });
}
