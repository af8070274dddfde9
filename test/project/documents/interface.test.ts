// What a released version promised is kept, or its end stands in CHANGELOG.md: `interfaces/` has the OpenAPI
// document of each release.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ENDPOINTS } from '../../../api/endpoints/index.ts';
import { buildOpenApi } from '../../../api/introspection/openapi/openapi.ts';
import { parseReleases } from '../../../api/market/reference/changelog.ts';
import { breaksOf, inlined, type Interface } from './interface.ts';

const FILES = globSync(join(import.meta.dirname, 'interfaces', '*.json.gz'));
const RELEASES = parseReleases(
  readFileSync(join(import.meta.dirname, '..', '..', '..', 'CHANGELOG.md'), 'utf8'),
);
const NOW = inlined(JSON.parse(JSON.stringify(buildOpenApi(ENDPOINTS, 'svc')))) as Interface;

test('there is the document of every release', () => {
  const released = RELEASES.flatMap(({ date, version }) => (date === null ? [] : [version]));
  expect(FILES.map((path) => basename(path, '.json.gz')).toSorted()).toEqual(released.toSorted());
});

for (const path of FILES) {
  const version = basename(path, '.json.gz');
  test(`what ${version} promised is kept, or its end is told under Changed or Removed`, () => {
    const before = inlined(
      JSON.parse(gunzipSync(readFileSync(path)).toString('utf8')),
    ) as Interface;
    const at = RELEASES.findIndex((release) => release.version === version);
    const told = RELEASES.slice(0, at)
      .flatMap(({ changes }) => changes)
      .filter(({ kind }) => kind === 'Changed' || kind === 'Removed')
      .map(({ text }) => text)
      .join(' ');
    const silent = breaksOf(before, NOW).filter(({ name }) => !told.includes(`\`${name}\``));
    assert.deepEqual(silent, []);
  });
}

const answer = (schema: object, more: object = {}): Interface => ({
  paths: {
    '/v1/x': {
      get: {
        operationId: 'getX',
        responses: { 200: { content: { 'application/json': { schema } } } },
        ...more,
      },
    },
  },
});
const text = { type: 'string' };
const member = { type: 'object', properties: { a: text, b: { type: 'array', items: text } } };
const asks = (...parameters: readonly object[]): Interface => answer({}, { parameters });
const q = { name: 'q', in: 'query', schema: { type: 'string', enum: ['x', 'y'] } };

const CASES: readonly (readonly [string, Interface, Interface, readonly string[]])[] = [
  ['nothing', answer(member), answer(member), []],
  ['an operation', answer({}), { paths: {} }, ['getX']],
  ['a member', answer(member), answer({ type: 'object', properties: { a: text } }), ['getX.b']],
  ['a member more', answer({ type: 'object', properties: { a: text } }), answer(member), []],
  ['a type', answer(text), answer({ type: 'number' }), ['getX']],
  ['a type that was anything', answer({}), answer(text), []],
  [
    'a type that may be null now',
    answer(text),
    answer({ anyOf: [text, { type: 'null' }] }),
    ['getX'],
  ],
  [
    'nothing, by another word for the same',
    answer({ anyOf: [text, { type: 'null' }] }),
    answer({ type: ['string', 'null'] }),
    [],
  ],
  ['items', answer({ type: 'array', items: text }), answer({ type: 'array' }), ['getX']],
  ['a parameter', asks(q), asks(), ['getX.q']],
  ['a parameter more', asks(), asks(q), []],
  ['a parameter that must be given', asks(), asks({ ...q, required: true }), ['getX.q']],
  ['a value', asks(q), asks({ ...q, schema: { type: 'string', enum: ['y', 'z'] } }), ['getX.q']],
  ['any value', asks(q), asks({ ...q, schema: text }), []],
];
for (const [what, before, after, names] of CASES) {
  test(`missed of an interface: ${what}`, () => {
    expect(breaksOf(before, after).map(({ name }) => name)).toEqual(names);
  });
}
