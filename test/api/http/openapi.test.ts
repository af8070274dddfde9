import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Validator } from '@seriousme/openapi-schema-validator';
import { test } from 'vitest';
import { ENDPOINTS } from '../../../api/endpoints/index.ts';
import { expandPath, buildOpenApi } from '../../../api/introspection/openapi/openapi.ts';
import { MARKET_TYPES } from '../../../market/types/marketTypes.ts';
import { STOCK_TYPES } from '../../../reads/stock/stockTypes.ts';
import type { Release } from '../../../reads/market/reference/changelog.ts';
import { VERSION } from '../../../store/base/version.ts';
import { startServer, type TestServer } from '../../base/server.ts';

test('the document is valid OpenAPI 3.1 by an outside validator', async () => {
  const document = JSON.parse(JSON.stringify(buildOpenApi(ENDPOINTS, 'svc'))) as Record<
    string,
    unknown
  >;
  const validator = new Validator();
  const { valid, errors } = await validator.validate(document);
  assert.ok(valid, JSON.stringify(errors));
  assert.equal(validator.version, '3.1');
  assert.equal((await new Validator().validate({ ...document, paths: { x: 1 } })).valid, false);
});

/**
 * For each operation: 1,817 before they shared anything, 1,077 and 1,083 since, 1,112 with ten parameters
 * of file reading and the answer of every write, 1,117 with the formats, scripts and prices that
 * replace an answer, 1,177 with the three parameters of every JSON answer,
 * 1,180 with the header of idempotent writes.
 */
const OPERATION_BYTES_MAX = 1_182;
/** Of the market document: half of it are the 120 operations, a quarter their answers. */
const MARKET_BYTES_MAX = 200_000;

interface Shared {
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

/** The referenced components, and the defined ones. */
function referencesOf(document: Shared): readonly (readonly (string | undefined)[])[] {
  const text = JSON.stringify(document);
  const references = new Set(
    [...text.matchAll(/"#\/components\/([\w/]+)"/g)].map((match) => match[1]),
  );
  const there = Object.entries(document.components).flatMap(([kind, all]) =>
    kind === 'securitySchemes' ? [] : Object.keys(all).map((name) => `${kind}/${name}`),
  );
  return [[...references].toSorted(), there.toSorted()];
}

test('the market has a document of its own, as valid and as short', async () => {
  await using server = await startServer();
  const response = await fetch(`${server.base}/v1/openapi-doc?part=market`);
  const document = (await response.json()) as Shared & { readonly paths: object };
  const length = JSON.stringify(document).length;
  assert.ok(length < MARKET_BYTES_MAX, String(length));
  const { valid, errors } = await new Validator().validate({ ...document });
  assert.ok(valid, JSON.stringify(errors));
  const [references = [], there] = referencesOf(document);
  assert.deepEqual(references, there);
  assert.ok(references.includes('schemas/Quote') && references.includes('schemas/StockTypes'));
  const types = Object.keys(document.paths);
  for (const { name } of [...MARKET_TYPES, ...STOCK_TYPES]) {
    assert.ok(
      types.includes(`/stock/{symbol}/${name}${name === 'indicator' ? '/{indicator}' : ''}`),
      name,
    );
  }
  assert.match(JSON.stringify(buildOpenApi(ENDPOINTS, 'svc')), /"\/v1\/openapi-doc\?part=market"/);
});

test('common parts of operations are defined once, and every reference has its target', () => {
  const document = buildOpenApi(ENDPOINTS, 'svc') as unknown as Shared & {
    readonly paths: Readonly<Record<string, object>>;
  };
  const text = JSON.stringify(document);
  const operations = Object.values(document.paths).flatMap((methods) =>
    Object.keys(methods),
  ).length;
  const most = operations * OPERATION_BYTES_MAX;
  assert.ok(text.length < most, `${text.length} for ${operations} operations`);
  const [references, there = []] = referencesOf(document);
  assert.deepEqual(references, there);
  assert.ok(there.includes('schemas/Problem') && there.includes('schemas/ListDatasetsAnswerItem'));
  const quotaResponse = JSON.stringify(document.components['responses']?.['402']);
  assert.match(quotaResponse, /You have exceeded your allotted message quota/);
});

test('every row of the table is in the document, once for each form of its path', () => {
  const { paths } = buildOpenApi(ENDPOINTS, 'svc') as {
    paths: Record<string, Record<string, object>>;
  };
  const ids = new Set<string>();
  for (const endpoint of ENDPOINTS) {
    for (const path of expandPath(endpoint.path)) {
      const open = path.replaceAll(/:(\w+)/g, '{$1}');
      const operation = paths[open]?.[endpoint.method.toLowerCase()] as { operationId: string };
      assert.ok(operation, `${endpoint.method} ${open}`);
      assert.ok(!ids.has(operation.operationId), operation.operationId);
      ids.add(operation.operationId);
    }
  }
});

// The document is cached between requests.
test('each server describes its own brand, independent of earlier requests to others', async () => {
  await using ours = await startServer();
  await using theirs = await startServer({ settings: { TAPEDECK_BRAND: 'theirs' } });
  const headerIn = async ({ base }: TestServer, part: string): Promise<string | undefined> => {
    const answer = await fetch(`${base}/v1/openapi-doc${part}`);
    return /\w+cloud-messages-used/.exec(await answer.text())?.[0];
  };
  const brand = ours.tapedeck.services.settings.brand;
  for (const part of ['', '?part=market']) {
    for (const server of [ours, theirs, theirs, ours]) {
      const own = server === ours ? brand : 'theirs';
      assert.equal(await headerIn(server, part), `${own}cloud-messages-used`, part);
    }
  }
});

test('the program and its package have one version', async () => {
  const text = await readFile(new URL('../../../package.json', import.meta.url), 'utf8');
  assert.equal((JSON.parse(text) as { version: string }).version, VERSION);
});

test('the changelog is served as data, without a token', async () => {
  await using server = await startServer();
  const answer = await fetch(`${server.base}/v1/changelog`);
  assert.equal(answer.status, 200);
  const releases = (await answer.json()) as readonly Release[];
  assert.deepEqual([releases[0]?.version, releases[0]?.date], ['Unreleased', null]);
  const own = releases.find(({ version }) => version === VERSION);
  assert.match(own?.date ?? '', /^\d{4}-\d{2}-\d{2}$/);
  const kinds = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
  for (const { changes, date, version } of releases) {
    // Right after a release nothing is unreleased.
    assert.ok(changes.length > 0 || date === null, version);
    for (const { kind, text } of changes) {
      assert.ok(kinds.includes(kind), kind);
      assert.match(text, /^\S.*[.)]$/, 'a whole sentence, in one line');
    }
  }
});
