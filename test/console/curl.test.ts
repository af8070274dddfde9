// The curl command of a screen sends the same request from a shell, with any names and texts.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'vitest';
import { formatCurl } from '../../console/api/requestLog.ts';

const BASE = 'http://127.0.0.1:8080';

/** The arguments that curl would receive. */
function argumentsOf(text: string): readonly string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${text}`;
  const env = { TOKEN: 'sk_1', OPERATOR_TOKEN: 'ak_1', PATH: process.env['PATH'] ?? '' };
  const output = execFileSync('sh', ['-c', script], { env, encoding: 'utf8' });
  return output.split('\0').slice(0, -1);
}

const HOSTILE = [
  `it's`,
  '$(touch x)',
  '`id`',
  '"; rm -rf .; "',
  'a\nb',
  '\\',
  '!!',
  '$TOKEN',
  '日本',
];

test.each(HOSTILE)('%j is one argument, unchanged', (text) => {
  const json = JSON.stringify({ sqlQuery: text });
  const request = { method: 'POST', path: `/v1/sql-query/${text}`, body: json };
  assert.deepEqual(argumentsOf(formatCurl(request, BASE)), [
    '-X',
    'POST',
    '-H',
    'Authorization: Bearer sk_1',
    '--json',
    json,
    `${BASE}/v1/sql-query/${text}`,
  ]);
});

test('a file, a stream, and a request of the operator', () => {
  const file = { method: 'POST', path: '/v1/data/WS/A', file: `my file's.csv` };
  assert.deepEqual(argumentsOf(formatCurl(file, BASE)).slice(-3), [
    '--data-binary',
    `@my file's.csv`,
    `${BASE}/v1/data/WS/A`,
  ]);
  const stream = { method: 'GET', path: '/v1/tops?symbols=A', accept: 'text/event-stream' };
  assert.deepEqual(argumentsOf(formatCurl(stream, BASE)).slice(0, 3), [
    '-N',
    '-H',
    'Accept: text/event-stream',
  ]);
  const operator = { method: 'GET', path: '/v1/admin/status', isOperator: true };
  assert.match(formatCurl(operator, BASE), /"Authorization: Bearer \$OPERATOR_TOKEN"/);
});
