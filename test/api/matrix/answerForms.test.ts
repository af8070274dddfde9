// Walks the table of endpoints: `callback`, `filter` and `format` on every GET that answers JSON, and the
// two count headers on every answer (SPEC.md "Common response conventions").
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { requestOf, type Way, WAYS } from './matrixCases.ts';
import { ask } from './matrixJudge.ts';
import { openWorld, targetOf, type World } from './matrixOwner.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.server.close());

type Answer = Awaited<ReturnType<typeof ask>>;

async function get(way: Way, query: string): Promise<Answer> {
  const { owner, server } = world;
  const request = requestOf(way, targetOf(owner));
  const path = query === '' ? request.path : `${request.path}${joint(request.path)}${query}`;
  const isOperator = way.endpoint.token === 'admin';
  const token = isOperator ? server.tapedeck.services.adminToken : owner.secret;
  return ask({ ...request, path }, { base: server.base, token });
}

const joint = (path: string): string => (path.includes('?') ? '&' : '?');

const READS = WAYS.filter(({ endpoint }) => endpoint.method === 'GET');

/** Read requests that return JSON, with the answer of each. */
async function jsonReads(): Promise<readonly (readonly [Way, string])[]> {
  const reads: (readonly [Way, string])[] = [];
  for (const way of READS) {
    const { status, text, type } = await get(way, '');
    if (status === 200 && type.startsWith('application/json')) reads.push([way, text]);
  }
  assert.ok(reads.length > 100, `${reads.length} ways answer JSON`);
  return reads;
}

test('every GET that answers JSON has JSONP, CSV, and a filter', async () => {
  const wrong: string[] = [];
  for (const [way, text] of await jsonReads()) {
    const { id, parameters } = way.endpoint;
    const script = await get(way, 'callback=app.show');
    const isScript =
      script.type.startsWith('text/javascript') && /^\/\*\*\/ .*show\(/.test(script.text);
    if (script.status !== 200 || !isScript) wrong.push(`${way.route}: ${script.text.slice(0, 80)}`);
    // A batch reports the reason for its refusal; SQL selects its columns itself.
    if (id === 'getStockBatch') continue;
    const csv = await get(way, 'format=csv');
    if (csv.status !== 200 || !csv.type.startsWith('text/csv')) wrong.push(`${way.route}: no csv`);
    if (!parameters.some(({ name }) => name === 'filter')) {
      if (!['sqlQuery', 'callPublished'].includes(id)) wrong.push(`${way.route}: no filter`);
      continue;
    }
    const none = await get(way, 'filter=noSuchName');
    // Records of a dataset have known names.
    const isRefused = none.status === 400 && none.text.includes('filter\\" names no attribute');
    if (none.status !== 200 && !isRefused) wrong.push(`${way.route}: ${none.text.slice(0, 80)}`);
    if (none.status === 200 && none.text.length > text.length)
      wrong.push(`${way.route}: not filtered`);
  }
  assert.deepEqual(wrong, []);
});

test('every answer except that of /status has both count headers', async () => {
  const wrong: string[] = [];
  for (const way of READS) {
    const { cost, premium, status, type } = await get(way, '');
    if (status !== 200 && status !== 302) continue;
    const isStatus = way.endpoint.id === 'getStatus';
    if ((cost === null) !== isStatus || (premium === null) !== isStatus) {
      wrong.push(`${way.route} ${type} ${cost} ${premium}`);
    }
  }
  assert.deepEqual(wrong, []);
});
