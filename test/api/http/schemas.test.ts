// Schemas are built without typebox's own builders, which would slow down every start: the results are equal.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { Type as Theirs } from 'typebox';
import { Check } from 'typebox/schema';
import { Type } from '../../../reads/request/schema.ts';

type Makers = typeof Type;

/** Every builder, with and without options, and as an optional member of objects. */
const SAMPLES: Readonly<Record<keyof Makers, (make: Makers) => readonly unknown[]>> = {
  Array: (make) => [make.Array(make.String()), make.Array(make.Null(), { maxItems: 2 })],
  Boolean: (make) => [make.Boolean(), make.Boolean({ description: 'a' })],
  Enum: (make) => [make.Enum(['a', 'b']), make.Enum(['a'], { description: 'a' })],
  Integer: (make) => [make.Integer(), make.Integer({ minimum: 1, maximum: 2 })],
  Literal: (make) => [make.Literal('a'), make.Literal(true), make.Literal(1, { description: 'a' })],
  Never: (make) => [make.Never()],
  Null: (make) => [make.Null()],
  Number: (make) => [make.Number(), make.Number({ minimum: 0 })],
  Object: (make) => [
    make.Object({}),
    make.Object({ b: make.String(), a: make.Optional(make.Null()), c: make.Never() }),
    make.Object({ a: make.Optional(make.Number()) }, { additionalProperties: false }),
  ],
  Optional: (make) => [make.Optional(make.String({ maxLength: 3, description: 'a' }))],
  Record: (make) => [
    make.Record(make.String(), make.Number()),
    make.Record(make.String({ pattern: '^a$', maxLength: 3 }), make.Null(), { maxProperties: 3 }),
  ],
  String: (make) => [make.String(), make.String({ pattern: '^[a-z]+$', minLength: 1 })],
  Tuple: (make) => [make.Tuple([make.String(), make.Number()])],
  Union: (make) => [make.Union([make.String(), make.Null()], { description: 'a' })],
  Unknown: (make) => [make.Unknown()],
  Unsafe: (make) => [make.Unsafe({ type: 'string', maxLength: 3 })],
};

for (const [name, samples] of Object.entries(SAMPLES)) {
  test(`${name} equals that of typebox`, () => {
    assert.deepEqual(samples(Type).map(textOf), samples(Theirs).map(textOf));
  });
}

/** With the order of members, which documents keep. */
const textOf = (schema: unknown): string => JSON.stringify(schema);

test('a schema that is optional in one object is required in another', () => {
  const name = Type.String();
  const loose = Type.Object({ name: Type.Optional(name) });
  const strict = Type.Object({ name });
  assert.deepEqual(
    [Check(loose, {}), Check(strict, {}), Check(strict, { name: 'a' })],
    [true, false, true],
  );
});
