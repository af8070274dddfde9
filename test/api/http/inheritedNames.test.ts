// Names of members that every object inherits are names like others: in no path and no parameter do they make
// a server fail.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { ENDPOINTS } from '../../../api/endpoints/index.ts';
import { expandPath } from '../../../api/introspection/openapi/openapi.ts';
import { startServer } from '../../base/server.ts';

const NAMES = ['__proto__', 'constructor', 'toString'];
/** A segment that exists, for the places beside the tested one. */
const USUAL: Readonly<Record<string, string>> = {
  ':workspace': 'WS',
  ':id': 'D',
  ':type': 'quote',
  ':symbol': 'market',
  ':list': 'symbols',
};

test('in every segment and parameter of every GET endpoint', async () => {
  await using server = await startServer();
  const paths = ENDPOINTS.filter(
    ({ events, method }) => method === 'GET' && events !== 'only',
  ).flatMap(({ aliases = [], parameters, path }) =>
    [path, ...aliases].flatMap(expandPath).flatMap((url) => {
      const segments = url.split('/');
      const usual = segments.map((one) => (one.startsWith(':') ? (USUAL[one] ?? 'x') : one));
      const hostile = segments.flatMap((one, at) =>
        one.startsWith(':') ? NAMES.map((name) => usual.with(at, name).join('/')) : [],
      );
      const inQuery = parameters.map(({ name }) => `${usual.join('/')}?${name}=constructor`);
      return [...hostile, ...inQuery];
    }),
  );
  const failures: string[] = [];
  for (const path of new Set(paths)) {
    const url = `${server.base}/v1${path}${path.includes('?') ? '&' : '?'}token=${server.secret}`;
    const cut = new AbortController();
    const answer = await fetch(url, { signal: cut.signal, redirect: 'manual' });
    if (answer.status === 500) failures.push(path);
    cut.abort();
  }
  assert.ok(paths.length > 500, `${paths.length} paths`);
  assert.deepEqual(failures, []);
});
