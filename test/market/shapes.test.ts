// The documented shapes of answers: for any rows, and for attributes without data.
import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import type { Shape } from '../../market/types/shape.ts';
import { typeShapes } from '../../market/types/shapes.ts';
import { seedsOf } from '../base/seeds.ts';
import { shapesLaw } from './laws/shapesLaw.ts';

test('an answer has its documented shape, with any data', async (context) => {
  const shapes = await typeShapes();
  for (const seed of seedsOf(context)) {
    const { failures } = shapesLaw({ seed, count: 60, shapes });
    assert.deepEqual(failures, []);
  }
});

test('every attribute has data, or is declared as always null', async () => {
  const shapes = await typeShapes();
  const nullMembers = [...shapes].flatMap(([name, forms]) =>
    forms.flatMap(({ shape }) => nullsIn(shape).map((member) => `${name}.${member}`)),
  );
  // Beside records of companies, which have them.
  expect(nullMembers.filter((name) => !name.startsWith('company.'))).toEqual([]);
});

const nullsIn = ({ items, properties = {} }: Shape): readonly string[] => [
  ...(items === undefined ? [] : nullsIn(items)),
  ...Object.entries(properties).flatMap(([name, member]) =>
    member.type === 'null' ? [name] : nullsIn(member),
  ),
];
