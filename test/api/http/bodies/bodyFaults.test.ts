// The checker of bodies against typebox's own, over every schema of the table of endpoints: the same verdicts
// and sentences.
import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import type { TSchema } from 'typebox';
import { Check, Errors } from 'typebox/schema';
import { TOOLS } from '../../../../api/agents/tools.ts';
import { ENDPOINTS } from '../../../../api/endpoints/index.ts';
import {
  DEPTH_MAX,
  FAULTS_SHOWN,
  ITEMS_MAX,
  jsonBytesMax,
} from '../../../../reads/request/bodyLimits.ts';
import { findFaults } from '../../../../api/request/body/faults.ts';
import { ANY_NAME, patternOf, Type } from '../../../../reads/request/schema.ts';
import { findShapeFault } from '../../../../api/request/body/shape.ts';
import {
  bodyWith,
  itemOf,
  memberOf,
  placesIn,
  type Schema,
  smallest,
} from '../../../soak/fuzz/bodies/schemas.ts';

const SCHEMAS: readonly (readonly [string, TSchema])[] = [
  ...ENDPOINTS.flatMap(({ body, id }) =>
    body?.kind === 'json' ? [[id, body.schema] as const] : [],
  ),
  ...TOOLS.map(({ input, name }) => [name, input] as const),
];

const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e15,
  '',
  'x',
  'PRICES',
  'é🎈'.repeat(200),
  'x'.repeat(2e4),
  [],
  {},
  [[]],
  [1, 'x', null],
  {
    a: 1,
    b: [],
  },
  { type: 'string' },
  { read: 1 },
];

/** Faults in the words of typebox's checker. */
function theirFaults(schema: TSchema, value: unknown): readonly string[] {
  const [, errors] = Errors(schema, value);
  const naming = errors.filter(
    ({ keyword, ...error }) =>
      keyword !== 'anyOf' &&
      keyword !== 'additionalProperties' &&
      !(keyword === 'type' && 'type' in error.params && error.params.type === 'null'),
  );
  return naming.map(({ instancePath, keyword, message, params }) => {
    const member = instancePath.slice(1).replaceAll('/', '.');
    const allowed = 'allowedValues' in params ? `: ${String(params.allowedValues)}` : '';
    // A pattern is described in words.
    const words =
      'pattern' in params ? `must be ${patternOf(String(params.pattern)).rule}` : undefined;
    const rule = keyword === 'boolean' ? 'is not known' : (words ?? `${message}${allowed}`);
    return `${member === '' ? 'the body' : member.slice(0, 200)} ${rule}`;
  });
}

/** Keywords that the checker supports; the last two restrict no values, or repeat a rule of the tuple. */
const KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'const',
  'enum',
  'not',
  'anyOf',
  'properties',
  'required',
  'patternProperties',
  'additionalProperties',
  'maxProperties',
  'items',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'description',
  'additionalItems',
]);

test('no schema has a keyword that the checker does not support', () => {
  for (const [name, schema] of SCHEMAS) {
    const places = placesIn(schema as Schema).map((place) => place.schema);
    const keywords = places.flatMap((one) => Object.keys(one));
    const patterns = places.flatMap((one) => Object.keys(one.patternProperties ?? {}));
    assert.ok(
      patterns.every((pattern) => pattern === ANY_NAME),
      name,
    );
    assert.deepEqual(
      keywords.filter((keyword) => !KEYWORDS.has(keyword)),
      [],
      name,
    );
  }
});

/** Values at every place of a body: small, odd, and lists of a few. */
function valuesOf(schema: TSchema): readonly unknown[] {
  const whole = schema as Schema;
  return placesIn(whole).flatMap((place) => {
    const item = smallest(itemOf(place.schema));
    const member = smallest(memberOf(place.schema) ?? {});
    const few = [[item, item, item], { v: member, w: member }, smallest(place.schema)];
    return [...ODD, ...few].map((value) => bodyWith(whole, place.path, value));
  });
}

describe('the checker of bodies agrees with typebox', () => {
  for (const [name, schema] of SCHEMAS) {
    test(name, () => {
      let accepted = 0;
      for (const value of valuesOf(schema)) {
        const { count, messages } = findFaults(schema, value);
        const text = JSON.stringify(value).slice(0, 300);
        assert.equal(count === 0, Check(schema, value), `${text}: ${messages.join('; ')}`);
        // Items of a list that is too long are not visited.
        const isCounted = messages.some((fault) => fault.includes('must not have more than'));
        if (!isCounted)
          assert.deepEqual(messages, theirFaults(schema, value).slice(0, FAULTS_SHOWN), text);
        if (count === 0) accepted += 1;
      }
      assert.ok(accepted > 0, 'no value was accepted');
    });
  }
});

test('a list is counted before its items are visited, and faults after the first are counted', () => {
  const list = Type.Object({ list: Type.Array(Type.Integer(), { maxItems: 5 }) });
  const many = findFaults(list, { list: Array.from({ length: 6 }, () => 'x') });
  assert.deepEqual({ ...many }, { messages: ['list must not have more than 5 items'], count: 1 });
  const wrong = findFaults(list, { list: Array.from({ length: 5 }, () => 'x') });
  assert.deepEqual(
    { ...wrong },
    { messages: [0, 1, 2].map((at) => `list.${at} must be integer`), count: 5 },
  );
});

test('lists and objects without their own maximum have the default one', () => {
  const items = Array.from({ length: ITEMS_MAX + 1 }, (_, at) => at);
  const open = Type.Object({ list: Type.Array(Type.Integer()), any: Type.Unknown() });
  const members = Object.fromEntries(items.map((at) => [`m${at}`, at]));
  const { messages } = findFaults(open, { list: items, any: members });
  assert.deepEqual(messages, [
    `list must not have more than ${ITEMS_MAX} items`,
    `any must not have more than ${ITEMS_MAX} properties`,
  ]);
});

describe('the shape of JSON', () => {
  const VALUES = 100;
  const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const cases: readonly (readonly [string, string, RegExp | undefined])[] = [
    ['as deep as may be', nested(DEPTH_MAX), undefined],
    ['too deep', ` \n${nested(DEPTH_MAX + 1)}`, /nested more than 32 levels deep/],
    ['signs inside texts', `["${nested(200)},,\\"[[[[",{"a\\\\":"["}]`, undefined],
    ['too many values', `[${'0,'.repeat(VALUES)}0]`, /more than 100 values/],
    ['a text that is no list', `SELECT ${'0,'.repeat(VALUES)}0`, undefined],
    ['a text without an end', '["[[[', undefined],
    ['nothing', '', undefined],
  ];
  for (const [name, text, rule] of cases) {
    test(name, () => {
      const fault = findShapeFault(Buffer.from(text), VALUES);
      if (rule === undefined) assert.equal(fault, undefined);
      else assert.match(fault ?? '', rule);
    });
  }
});

test('a body with the longest text that a route accepts fits the maximum of its body', () => {
  for (const { body, id } of ENDPOINTS) {
    if (body?.kind !== 'json') continue;
    const texts = placesIn(body.schema as Schema).map(({ schema }) => schema.maxLength ?? 0);
    const [most, longest] = [jsonBytesMax(body) ?? 0, Math.max(0, ...texts)];
    assert.ok(longest * 3 <= most, `${id} has texts of ${longest} characters in ${most} bytes`);
  }
});
