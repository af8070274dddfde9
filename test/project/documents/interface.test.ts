// The interface of a released version stays valid, or CHANGELOG.md lists the change: `interfaces/` has the
// OpenAPI document of each release.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ENDPOINTS } from '../../../api/endpoints/index.ts';
import { buildOpenApi } from '../../../api/introspection/openapi/openapi.ts';
import { parseReleases } from '../../../reads/market/reference/changelog.ts';
import { breaksOf, inlined, type Interface } from './interface.ts';

const FILES = globSync(join(import.meta.dirname, 'interfaces', '*.json.gz'));
const RELEASES = parseReleases(
  readFileSync(join(import.meta.dirname, '..', '..', '..', 'CHANGELOG.md'), 'utf8'),
);
const NOW = inlined(JSON.parse(JSON.stringify(buildOpenApi(ENDPOINTS, 'svc')))) as Interface;

test('every release has its document', () => {
  const released = RELEASES.flatMap(({ date, version }) => (date === null ? [] : [version]));
  expect(FILES.map((path) => basename(path, '.json.gz')).toSorted()).toEqual(released.toSorted());
});

for (const path of FILES) {
  const version = basename(path, '.json.gz');
  test(`the interface of ${version} stays valid, or changes are under Changed or Removed`, () => {
    const before = inlined(
      JSON.parse(gunzipSync(readFileSync(path)).toString('utf8')),
    ) as Interface;
    const at = RELEASES.findIndex((release) => release.version === version);
    const changelog = RELEASES.slice(0, at)
      .flatMap(({ changes }) => changes)
      .filter(({ kind }) => kind === 'Changed' || kind === 'Removed')
      .map(({ text }) => text)
      .join(' ');
    const silent = breaksOf(before, NOW).filter(({ name }) => !changelog.includes(`\`${name}\``));
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
    'nothing, in another notation',
    answer({ anyOf: [text, { type: 'null' }] }),
    answer({ type: ['string', 'null'] }),
    [],
  ],
  ['items', answer({ type: 'array', items: text }), answer({ type: 'array' }), ['getX']],
  ['a parameter', asks(q), asks(), ['getX.q']],
  ['a parameter more', asks(), asks(q), []],
  ['a parameter that becomes required', asks(), asks({ ...q, required: true }), ['getX.q']],
  ['a value', asks(q), asks({ ...q, schema: { type: 'string', enum: ['y', 'z'] } }), ['getX.q']],
  ['any value', asks(q), asks({ ...q, schema: text }), []],
];
for (const [what, before, after, names] of CASES) {
  test(`breaking changes of an interface: ${what}`, () => {
    expect(breaksOf(before, after).map(({ name }) => name)).toEqual(names);
  });
}
