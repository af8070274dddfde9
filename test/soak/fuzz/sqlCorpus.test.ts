// Every attack of test/soak/fuzz/sql except the bombs: refusals have a sentence, harmless queries are
// answered, and priced queries are charged.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { allAttacks } from './sql/attacks.ts';
import { faultsOf } from './sql/verdicts.ts';
import { openWorld, type World } from './sql/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const ATTACKS = allAttacks().filter(({ theme }) => theme !== 'bombs');

test('the corpus has enough attacks with unique names', () => {
  const names = ATTACKS.map(({ name }) => name.replace(/:\d+/, ''));
  assert.equal(new Set(names).size, names.length, 'two attacks have one name');
  assert.ok(ATTACKS.length > 800, String(ATTACKS.length));
  const answered = ATTACKS.filter(({ expected }) =>
    expected.every(({ kind }) => kind === 'answer'),
  );
  assert.ok(answered.length > 80, String(answered.length));
});

for (const theme of new Set(ATTACKS.map((attack) => attack.theme))) {
  test(`${theme}: in every way that a text can be sent`, async () => {
    const attacks = ATTACKS.filter((attack) => attack.theme === theme);
    const faults: string[] = [];
    for (const attack of attacks) faults.push(...(await faultsOf(world, attack)));
    assert.ok(faults.length === 0, `\n${faults.length} faults\n${faults.join('\n')}`);
  });
}

test('nothing is left behind', async () => {
  assert.deepEqual(await world.faults(), []);
});
