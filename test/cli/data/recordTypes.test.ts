// `tapedeck types` prints valid and correct TypeScript.
import assert from 'node:assert/strict';
import { loaded, send } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';
import { runHere } from '../commandHere.ts';

test('the records of a workspace are printed as interfaces', async ({ server }) => {
  await loaded(server, 'DAILY_PRICES', 'symbol,date,close,final\nA,2024-01-01,1.5,true\n', {
    key: 'symbol',
    date: 'date',
  });
  await send(server, 'PATCH', '/datasets/WS/DAILY_PRICES', { title: 'Prices */ of days' });
  const env = { TAPEDECK_SERVER: server.base, TAPEDECK_TOKEN: server.secret };
  const { code, stdout } = await runHere(['types', 'WS'], { env });
  assert.equal(code, 0);
  assert.equal(
    stdout,
    `/** Prices * / of days */
export interface DailyPrices {
  readonly symbol: string;
  readonly date: string;
  readonly close: number | null;
  readonly final: boolean | null;
}
`,
  );
});
