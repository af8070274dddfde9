// Tokens in wrong places: in paths, parameters, headers, statements, cells, file names. Callers put them
// there by mistake, and others may read the results.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { test } from 'vitest';
import { ENDPOINTS } from '../../../api/endpoints/index.ts';
import { expandPath } from '../../../api/introspection/openapi/openapi.ts';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { assertHidden, PLANTED, spawnServer } from './spawned.ts';

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Sends the path unchanged: `fetch` would rewrite it. */
function ask(
  base: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string | Buffer,
): Promise<Answer> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers }, (answer) => {
      // A stream has no end.
      if (answer.headers['content-type']?.startsWith('text/event-stream') === true) {
        resolve({ status: answer.statusCode ?? 0, text: '' });
        answer.destroy();
        return;
      }
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const hex = (text: string): string =>
  [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');

const PATHS: readonly ((token: string) => string)[] = [
  (token) => `/v1/data/X&token=${token}`,
  (token) => `/v1/data/WS/X;token=${token}`,
  (token) => `/v1/data/WS/X%3Ftoken=${token}`,
  (token) => `/v1/data/WS/X%253Ftoken%253D${token}`,
  (token) => `/v1/data/WS/X/${token}`,
  (token) => `/v1/data/${token}/X`,
  (token) => `/v1/time-series/${token}?last=1`,
  (token) => `/v1/${token}/data/WS/X`,
  (token) => `/${token}`,
  (token) => `//v1//${token}//`,
  (token) => `/v1/data/WS/${hex(token)}`,
  (token) => `/v1/data/WS/${hex(hex(token))}`,
  (token) => `/v1/data/WS/X?Token=${token}`,
  (token) => `/v1/data/WS/X?token[]=${token}&token=${token}x`,
  (token) => `/v1/data/WS/X?${token}=1`,
  (token) => `/v1/data/WS/X?nonsense=${hex(token)}`,
  (token) => `/v1/%zz/${token}`,
];

const HEADERS = [
  'referer',
  'user-agent',
  'cookie',
  'accept',
  'if-none-match',
  'x-forwarded-for',
  'origin',
  'x-request-id',
  'x-api-key',
  'content-type',
  'svc-date',
  'x-svc-date',
  'host',
];

const STATEMENTS: readonly ((token: string) => string)[] = [
  (token) => `SELECT * FROM ${token}`,
  (token) => `SELECT ${token} FROM PRICES`,
  (token) => `SELECT "${token}" FROM PRICES`,
  (token) => `SELECT ${token}(v) FROM PRICES`,
  (token) => `SELECT CAST('${token}' AS INTEGER) FROM PRICES`,
  (token) => `SELECT v FROM PRICES WHERE symbol = ${token}`,
  (token) => `SELECT '${token}' '${token}' FROM`,
  (token) => `SELECT date_trunc('${token}', date) FROM PRICES`,
  (token) => `SELECT strptime('${token}', '%Y') FROM PRICES`,
  (token) => `SELECT v FROM PRICES -- ${token}\n WHERE (`,
  (token) => `${token}`,
];

/** Bodies of loads into a dataset of symbol, date and the number v; all of their records are invalid. */
const RECORDS: readonly ((tokens: readonly string[]) => string)[] = [
  (tokens) => `symbol,date,v\n${tokens.map((token) => `A,2020-01-05,${token}\n`).join('')}`,
  (tokens) => `symbol,date,v\n${tokens.map((token) => `A,${token},1\n`).join('')}`,
  (tokens) => JSON.stringify(tokens.map((v) => ({ symbol: 'A', date: '2020-01-05', v }))),
];

/** Bodies that are invalid as a whole. */
const BODIES: readonly ((token: string) => string | Buffer)[] = [
  (token) => `symbol,date,v,${token}\nA,2020-01-05,1\n`,
  (token) => `symbol,date,v\n"A,2020-01-05,${token}\n`,
  (token) => `[{"symbol":"A","date":"2020-01-05","v":${token}}]`,
  (token) => `{"symbol":"A","${token}`,
  (token) => gzipSync(`symbol,date,v\nA,2020-01-05,${token}\n`).subarray(0, -9),
];

const LOAD = '/v1/data/WS/PRICES?wait=true';
const HOW = ['', '&dryRun=true', '&maximumValidationErrors=5'];

const bearer = { authorization: `Bearer ${PLANTED.secret}` };

test('a token in an odd place is revealed to nobody', async (t) => {
  await using server = await spawnServer({ TAPEDECK_SANDBOX_PORT: '0' });
  const { base } = server;
  const preparedTokens = await prepare(base);
  const tokens = { secret: PLANTED.secret, admin: PLANTED.admin, ...preparedTokens };
  const answers: [string, string][] = [];
  let requestCount = 0;
  const send = async (...what: Parameters<typeof ask> extends [string, ...infer R] ? R : never) => {
    const [method, path] = what;
    const { status, text } = await ask(base, ...what);
    requestCount += 1;
    if (status >= 400 || status < 200) answers.push([`${method} ${path}: ${status}`, text]);
    return status;
  };
  const [seed = 0] = seedsOf(t).slice(-1);
  for (const [turn, token] of Object.values(tokens).entries()) {
    for (const path of PATHS) {
      for (const method of ['GET', 'POST', 'DELETE']) await send(method, path(token), {});
      await send('GET', path(token), bearer);
    }
    for (const name of HEADERS) {
      await send('GET', '/v1/data/WS/PRICES?nonsense=1', { ...bearer, [name]: token });
    }
    for (const text of [`Basic ${token}`, token, `Bearer ${token} ${token}`]) {
      await send('GET', '/v1/data/WS/PRICES', { authorization: text });
    }
    for (const statement of STATEMENTS) {
      const text = encodeURIComponent(statement(token));
      await send('GET', `/v1/sql-query/WS?sqlQuery=${text}`, bearer);
    }
    for (const body of BODIES) {
      for (const more of HOW) await send('POST', `${LOAD}${more}`, bearer, body(token));
    }
    // The first invalid record is reported in the answer, the others in the log.
    const records = [token, ...Object.values(tokens).filter((other) => other !== token)];
    for (const [place, body] of RECORDS.entries()) {
      const more = HOW[(place + turn + seed) % HOW.length] ?? '';
      await send('POST', `${LOAD}${more}`, bearer, body(records));
    }
    await parameters(token, turn + seed, send);
  }
  for (const path of ['/v1/logs/WS', '/v1/jobs/WS/ingest', '/v1/account/usage/calls']) {
    answers.push([path, (await ask(base, 'GET', path, bearer)).text]);
  }
  const admin = { authorization: `Bearer ${PLANTED.admin}` };
  answers.push(['audit', (await ask(base, 'GET', '/v1/admin/audit', admin)).text]);
  const doc = await ask(base, 'GET', '/v1/openapi-doc', bearer);
  answers.push(['metrics', (await ask(base, 'GET', '/metrics', {})).text], ['openapi', doc.text]);
  note(t, `${requestCount} requests, ${answers.length} answers`);
  assert.ok(answers.length > 500);
  assert.ok(
    answers.some(([, text]) => text.includes('k_…')),
    'they were there',
  );
  assertHidden(
    answers.map(([name, text]) => [`an answer (${name})`, text] as const),
    tokens,
  );
  assertHidden(await server.end(), tokens);
});

/** Creates a dataset, and the secrets that only the server can create. */
async function prepare(base: string): Promise<Readonly<Record<string, string>>> {
  const post = async (path: string, body: string): Promise<Readonly<Record<string, string>>> => {
    const { status, text } = await ask(base, 'POST', `/v1${path}`, bearer, body);
    assert.equal(status, 200, text);
    return JSON.parse(text) as Record<string, string>;
  };
  await post('/workspaces', '{"name":"WS"}');
  const load = '/data/WS/PRICES?wait=true&key=symbol&date=date';
  await post(load, 'symbol,date,v\nA,2020-01-01,1\nB,2020-01-02,2\n');
  const { token = '' } = await post('/account/tokens', '{"kind":"secret"}');
  const { secret = '' } = await post('/account/signed', JSON.stringify({ tokenToSign: token }));
  return { issuedToken: token, signing: secret };
}

/** The assignment of tokens to parameters differs between runs; the handling of a parameter does not. */
const TOKENS = 4;

/** Every parameter of every endpoint that reads, and members of every body, divided among the tokens. */
async function parameters(
  token: string,
  turn: number,
  send: (
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ) => Promise<number>,
): Promise<void> {
  for (const { body, method, parameters, path, token: need } of ENDPOINTS) {
    const authorization = `Bearer ${need === 'admin' ? PLANTED.admin : PLANTED.secret}`;
    const at = expandPath(path)[0] ?? path;
    const where = `/v1${at.replaceAll(/:\w+/g, 'PRICES').replace('/PRICES/PRICES', '/WS/PRICES')}`;
    if (body !== undefined) {
      const bodies = [{ [token]: token }, { nonsense: token }, [token], token];
      for (const one of bodies) {
        await send(method, `${where}?nonsense=1`, { authorization }, JSON.stringify(one));
        if (body.kind === 'json') await send(method, where, { authorization }, JSON.stringify(one));
      }
    }
    if (method !== 'GET') continue;
    for (const [place, { name }] of parameters.entries()) {
      if ((place + turn) % TOKENS !== 0) continue;
      await send('GET', `${where}?${name}=${token}`, { authorization });
    }
  }
}
