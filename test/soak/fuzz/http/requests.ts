// Requests generated from the OpenAPI document: valid and hostile values at every place, wrong methods,
// wrong bodies, impossible headers. Every answer is a sentence with a status below 500.
import { createWorkspace } from '../../../../store/lake/datasetEdits.ts';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';
import { inlined } from '../../../project/documents/interface.ts';
import { encoded, HOSTILE_TEXTS, hostileJson, spoiled } from './hostile.ts';
import { type Arena, faultOf, openArena } from './judge.ts';
import { type RawAnswer, type RawRequest, send, describeRequest } from './wire.ts';

export interface FuzzOrder {
  readonly count: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

export interface FuzzReport {
  readonly runs: number;
  readonly failures: readonly string[];
}

interface Declared {
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Declared[];
  readonly requestBody?: unknown;
}

interface Row extends Operation {
  readonly path: string;
  readonly method: string;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Facts about the server that requests may use. */
interface Existing {
  readonly rows: readonly [Row, ...Row[]];
  readonly tokens: readonly [string, ...(readonly string[])];
  readonly jobId: string;
}

/** Requests in flight: overlapping ones may meet on one dataset. */
const AT_ONCE = 8;
/** Maximum of reported failures; the run stops there. */
const REPORTED_MAX = 20;

export async function fuzzRequests({ count, seed, log }: FuzzOrder): Promise<FuzzReport> {
  await using arena = await openArena();
  const context = await prepare(arena);
  const failures: string[] = [];
  const statuses = new Map<number, number>();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < count && failures.length < REPORTED_MAX; at = next++) {
      const request = makeRequest(context, seeded(seed * 1_000_003 + at));
      const { status, fault } = await judged(arena, request);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (fault !== undefined)
        failures.push(`seed ${seed}, request ${at}: ${fault}\n${describeRequest(request)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  failures.push(...(await arena.faults()).map((fault) => `seed ${seed}, at the end: ${fault}`));
  const statusCounts = [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, n]) => `${n} x ${status}`);
  log(`seed ${seed}: ${Math.min(next, count)} requests, ${statusCounts.join(', ')}`);
  return { runs: Math.min(next, count), failures };
}

async function judged(
  arena: Arena,
  request: RawRequest,
): Promise<{ readonly status: number; readonly fault: string | undefined }> {
  try {
    const answer = await send(arena.port, request);
    return { status: answer.status, fault: answerFault(request, answer, arena.server.folder) };
  } catch (error) {
    return { status: 0, fault: String(error) };
  }
}

function answerFault(request: RawRequest, answer: RawAnswer, folder: string): string | undefined {
  if (/^x-injected:/im.test(answer.head)) return `a header was injected: ${answer.head}`;
  const { status, body } = answer;
  // An answer to HEAD has no body, even if its headers announce one.
  const fault = faultOf(request.method === 'HEAD' ? { status, body: '-' } : answer, folder);
  if (fault !== undefined || request.method === 'HEAD') return fault;
  if (!/^content-type: application\/json/im.test(answer.head)) return undefined;
  try {
    JSON.parse(body);
    return undefined;
  } catch {
    return `${status} is labeled JSON but is not: ${body.slice(0, 300)}`;
  }
}

/** Creates a workspace of another account to fuzz in, so that WS never changes. */
async function prepare({ server }: Arena): Promise<Existing> {
  const { accounts, lake } = server.tapedeck.services;
  const accountId = await accounts.createAccount('fuzzer', 'scale');
  const secret = (await accounts.createToken(accountId, 'secret')).text;
  const publishable = (await accounts.createToken(accountId, 'publishable')).text;
  await createWorkspace(lake, 'FUZZ', accountId, 0);
  const rows = 'symbol,kind,date,v\nA,X,2024-01-01,1\nA,Y,2024-01-02,2\nB,X,2024-01-03,\n';
  const url = `${server.base}/v1/data/FUZZ/PRICES?wait=true&subkey=kind&key=symbol&date=date`;
  const loading = await fetch(`${url}&token=${secret}`, { method: 'POST', body: rows });
  const { jobId } = (await loading.json()) as { readonly jobId: string };
  const answer = await fetch(`${server.base}/v1/openapi-doc`);
  const document = inlined((await answer.json()) as object) as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      path,
      method: method.toUpperCase(),
    })),
  );
  const [first, ...rest] = operations;
  if (first === undefined) throw new Error('the OpenAPI document has no operation');
  const usual = Array.from({ length: 40 }, (_, at) => (at % 8 === 7 ? publishable : secret));
  const tokens: Existing['tokens'] = [secret, ...usual, ...HOSTILE_TEXTS.slice(0, 4)];
  return { rows: [first, ...rest], tokens, jobId };
}

const ODD_VERSIONS = ['stable', 'V1', 'latest', 'v2', '__proto__', ''] as const;
const METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'get',
  'NOPE',
] as const;

function makeRequest(context: Existing, random: Seeded): RawRequest {
  const row = random.pick(context.rows);
  const path = row.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    random.chance(0.85)
      ? encodeURIComponent(validPath(name, context, random))
      : encoded(random.pick(HOSTILE_TEXTS), random),
  );
  const method = random.chance(0.05) ? random.pick(METHODS) : row.method;
  const slash = random.chance(0.03) ? random.pick(['/', '//', '/?', '/%20', ';a=b']) : '';
  const version = random.chance(0.9) ? 'v1' : random.pick(ODD_VERSIONS);
  const target = `/${version}${path}${slash}?${queryOf(row, context, random)}`;
  return { method, target, headers: headersOf(random), body: bodyFor(row, random) };
}

function validPath(name: string, { jobId }: Existing, random: Seeded): string {
  if (name === 'workspace')
    return random.chance(0.9) ? 'FUZZ' : random.pick(['fuzz', 'WS', 'CORE']);
  if (name === 'id') return random.pick(['PRICES', 'PRICES', 'prices', 'MADE', 'OTHER', '*']);
  if (name === 'key') return random.pick(['A', 'B', 'a', 'A,B']);
  if (name === 'subkey') return random.pick(['X', 'Y', 'x']);
  if (name === 'date') return random.pick(['2024-01-01', '20240101']);
  if (name === 'type') return random.pick(['ingest', 'ingest', 'ingest', 'delete']);
  if (name === 'jobId') return jobId;
  if (name === 'attribute') return random.pick(['v', 'symbol', 'missing']);
  return random.pick(['PRICES', 'MADE', 'OTHER']);
}

function queryOf(row: Row, context: Existing, random: Seeded): string {
  const chosenParameters = (row.parameters ?? []).filter(
    (item) => item.in === 'query' && random.chance(0.15),
  );
  const parts = chosenParameters.map(({ name, schema }) => {
    const value = random.chance(0.75)
      ? encodeURIComponent(validQuery(name, schema, random))
      : encoded(random.pick(HOSTILE_TEXTS), random);
    const part = `${name}=${value}`;
    return random.chance(0.05) ? `${part}&${part}` : part;
  });
  if (random.chance(0.05)) {
    const name = encoded(random.pick(HOSTILE_TEXTS), random);
    parts.push(`${name}=${encoded(random.pick(HOSTILE_TEXTS), random)}`);
  }
  if (random.chance(0.03))
    parts.push(random.pick(['a[b]=1', 'a[]=1', '__proto__[x]=1', '=', '&&', '_=1']));
  if (random.chance(0.95)) parts.push(`token=${encodeURIComponent(random.pick(context.tokens))}`);
  if (random.chance(0.02)) parts.push('token=again');
  return parts.join('&');
}

function validQuery(name: string, schema: Schema, random: Seeded): string {
  if (schema.enum !== undefined) return String(random.pick([schema.enum[0], ...schema.enum]));
  if (schema.type === 'boolean') return random.pick(['true', 'false', '1']);
  if (schema.type === 'integer') {
    const { minimum = 0, maximum = 100 } = schema;
    return String(random.pick([minimum, maximum, minimum + 1, Math.min(50, maximum)]));
  }
  if (schema.format === 'date') return random.pick(['2024-01-01', '20240102', '2023-12-31']);
  if (name === 'asOf')
    return random.pick(['1', '2', '2024-01-01', '9'.repeat(11), '1700000000000']);
  if (name === 'jsonPath') return random.pick(['$', '$.data', '$.a.b[*]']);
  return random.pick(['symbol', 'date', 'v', 'symbol,v', 'kind', '24h', 'f']);
}

function headersOf(random: Seeded): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  const types = [
    'undefined',
    'application/json',
    'text/csv',
    ';;',
    'multipart/form-data',
    'a'.repeat(500),
  ] as const;
  const accepts = [
    'text/csv',
    'application/problem+json',
    '*/*',
    ',,,',
    'a'.repeat(9_000),
  ] as const;
  if (random.chance(0.3)) headers['content-type'] = random.pick(types);
  if (random.chance(0.2)) headers['accept'] = random.pick(accepts);
  if (random.chance(0.03))
    headers['authorization'] = random.pick(['Bearer', 'Bearer  x', 'Basic a', 'Bearer é']);
  if (random.chance(0.01)) headers['expect'] = '100-continue';
  if (random.chance(0.01)) headers['content-encoding'] = random.pick(['gzip', 'br', 'nonsense']);
  if (random.chance(0.01)) headers['x-filler'] = 'x'.repeat(17_000);
  if (random.chance(0.01)) headers['range'] = 'bytes=0-10';
  return headers;
}

const DATASET = {
  dataset: {
    datasetId: 'MADE',
    title: 'made',
    weight: 1,
    schema: {
      type: 'object',
      properties: { symbol: { type: 'string' }, day: { type: 'string', format: 'date' } },
      required: ['symbol'],
    },
    columnMapping: { key: 'symbol', date: 'day' },
  },
};
const RECORDS = [{ symbol: 'C', kind: 'X', date: '2024-02-01', v: 3 }];

function bodyFor(row: Row, random: Seeded): Buffer | undefined {
  if (row.requestBody === undefined && random.chance(0.9)) return undefined;
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value) ?? '', 'utf8');
  const workspace = /Workspace/.test(row.operationId);
  const dataset = /Dataset/.test(row.operationId);
  const valid = workspace ? { name: `W${random.between(0, 5)}` } : dataset ? DATASET : RECORDS;
  const kind = random.between(0, 9);
  if (kind < 2) return json(valid);
  if (kind < 6) return json(spoiled(valid, random));
  if (kind === 6) return json(hostileJson(random));
  if (kind === 7) return Buffer.from('symbol,kind,date,v\nC,X,2024-02-01,3\n');
  if (kind === 8) return Buffer.from(random.pick(HOSTILE_TEXTS), 'utf8');
  return Buffer.from(
    random.pick(['', '[object Object]', '{', '[', '"', '\ufeff{}', '['.repeat(50_000)]),
  );
}
