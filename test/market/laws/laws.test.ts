// The seeded laws of computed prices.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import type { Report } from '../../soak/crash/rounds/seeded.ts';
import { seedsOf } from '../../base/seeds.ts';
import { adjustLaw } from './adjustLaw.ts';
import { delayLaw } from './delayLaw.ts';
import { figuresLaw } from './figuresLaw.ts';
import { indicatorsLaw } from '../indicators/indicatorsLaw.ts';

const LAWS: readonly (readonly [string, (order: { seed: number; count: number }) => Report])[] = [
  ['adjusted x factor = traded at every date', adjustLaw],
  ['key figures equal those of a naive oracle', figuresLaw],
  ['indicators match their definitions', indicatorsLaw],
  ['no data are shown before their delay has passed', delayLaw],
];

for (const [name, law] of LAWS) {
  test(name, (context) => {
    for (const seed of seedsOf(context)) {
      const { failures } = law({ seed, count: 20 });
      assert.deepEqual(failures, []);
    }
  });
}
