// An input of the market has all its documented properties from the first load on, and keeps additional ones.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { inputOf } from '../../../market/inputs/inputs.ts';
import { send } from '../../base/client.ts';
import { caseFile, coreFolder, type CoreFolder } from './coreFolder.ts';

let core: CoreFolder;
beforeAll(async () => {
  core = await coreFolder();
});
afterAll(async () => core[Symbol.asyncDispose]());

test('a file of adjusted bars keeps its declaration after a file without one', async () => {
  const as = ['--as', 'HISTORICAL_PRICES'];
  await core.loaded(caseFile('unadjusted.csv'), ...as, '--symbol', 'OTHER');
  await core.loaded(caseFile('adjusted.csv'), ...as, '--symbol', 'ADJX', '--adjusted');
  await core.loaded(caseFile('splits.csv'), '--as', 'SPLITS');
  const [first] = (await core.get('/stock/ADJX/chart/max?sort=asc')) as readonly object[];
  assert.ok(first !== undefined);
  const { close, date, fClose, volume } = first as Readonly<Record<string, unknown>>;
  assert.deepEqual(
    { close, date, fClose, volume },
    { close: 120.888, date: '2024-06-07', fClose: 120.85, volume: 412385790 },
  );
});

test('the first load of an input creates all of its properties', async () => {
  await core.loaded(
    await core.write('d.csv', 'symbol,exDate,amount', 'DIVX,2024-02-09,0.24'),
    '--as',
    'DIVIDENDS',
  );
  await core.loaded(
    await core.write(
      'more.csv',
      'symbol,exDate,amount,refid,paymentDate,Note,Note2',
      'DIVX,2024-05-10,0.25,77,2024-05-16,5,x',
      'DIVX,2024-05-10,0.05,78,2024-05-17,7,y',
    ),
    '--as',
    'DIVIDENDS',
  );
  const rows = (await core.get('/data/CORE/DIVIDENDS/DIVX?last=3')) as readonly object[];
  const documented = inputOf('DIVIDENDS')?.properties.map(({ name }) => name) ?? [];
  for (const name of documented) assert.ok(name in (rows[0] ?? {}), name);
  const dividends = rows.map((row) => {
    const { Note, Note2, amount, paymentDate, refid } = row as Readonly<Record<string, unknown>>;
    return { Note, Note2, amount, paymentDate, refid };
  });
  assert.deepEqual(
    dividends.toSorted((one, other) => (String(one.refid) < String(other.refid) ? -1 : 1)),
    [
      { Note: null, Note2: null, amount: 0.24, paymentDate: null, refid: '1' },
      { Note: 5, Note2: 'x', amount: 0.25, paymentDate: '2024-05-16', refid: '77' },
      { Note: 7, Note2: 'y', amount: 0.05, paymentDate: '2024-05-17', refid: '78' },
    ],
  );
});

test('an additional column whose values change their type rejects no record', async () => {
  const as = ['--as', 'SPLITS'];
  const header = 'symbol,exDate,fromFactor,toFactor,code';
  await core.loaded(await core.write('a.csv', header, 'EXT,2020-01-02,1,2,7'), ...as);
  await core.loaded(await core.write('b.csv', header, 'EXT,2021-01-04,1,3,7.5'), ...as);
  const ran = await core.loaded(await core.write('c.csv', header, 'EXT,2022-01-03,1,4,x7'), ...as);
  assert.match(ran.stdout, /1 records received, 1 stored/);
  const rows = (await core.get('/data/CORE/SPLITS/EXT?last=3&sort=asc')) as readonly {
    readonly code: unknown;
    readonly toFactor: unknown;
  }[];
  assert.deepEqual(
    rows.map(({ code, toFactor }) => [toFactor, String(code)]),
    [
      [2, '7'],
      [3, '7.5'],
      [4, 'x7'],
    ],
  );
});

test('documented names are matched in any case, and a push may add a new member', async () => {
  const push = (path: string, value: object): ReturnType<typeof send> =>
    send(core.server, 'POST', path, value);
  const first = await push('/data/CORE/TRADES?wait=true', [
    { Symbol: 'PSH', Time: '2024-01-30T14:30:00Z', TradeId: '1', Price: 5, Size: 100 },
  ]);
  assert.equal(first.status, 200, first.text);
  const trade = { symbol: 'PSH', time: '2024-01-30T14:31:00Z', tradeId: '2', price: 6, size: 1 };
  const plain = await push('/record/CORE/TRADES', [trade]);
  assert.equal(plain.status, 200, plain.text);
  const wider = await push('/record/CORE/TRADES?wait=true', [
    { ...trade, tradeId: '3', venue: 'XNYS', flags: 'AB' },
  ]);
  assert.equal(wider.status, 200, wider.text);
  const rows = (await core.get('/data/CORE/TRADES/PSH?last=5')) as readonly {
    readonly flags: unknown;
    readonly price: unknown;
    readonly tradeId: string;
  }[];
  assert.deepEqual(
    rows
      .map(({ flags, price, tradeId }) => [tradeId, price, flags])
      .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
    [
      ['1', 5, null],
      ['2', 6, null],
      ['3', 6, 'AB'],
    ],
  );
});
