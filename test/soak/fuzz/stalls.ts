// Long texts at every parameter, path, header and member of a body, and in files: no request blocks the
// event loop for longer than its budget, and each answer is a sentence with a status below 500.
import { readFileSync } from 'node:fs';
import { type Seeded, seeded } from '../crash/rounds/seeded.ts';
import { inlined } from '../../project/documents/interface.ts';
import { faultOf } from './http/judge.ts';
import { bodyOf, type BodySchema, FILES, longText, SPECIAL } from './http/longTexts.ts';
import { startWatched, type Watched } from './http/loopWatch.ts';
import type { FuzzOrder, FuzzReport } from './http/requests.ts';
import { type RawRequest, send } from './http/wire.ts';

/** Longest allowed block of the loop. */
const BUDGET_MS = 50;
/** A busy machine may stall on its own: a request has blocked the loop only if it does so each time. */
const TIMES = 8;
/** Maximum length of a request line, encoded; a server refuses headers of more than 64 KiB. */
const LINE_CHARACTERS = 60_000;
const SEGMENT_CHARACTERS = 40_000;
const BODY_CHARACTERS = 500_000;
const FILE_CHARACTERS = 1_500_000;
/** A refusal of a larger body may be lost with its connection. */
const LOST_BYTES = 200_000;
const REPORTED_MAX = 10;

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: BodySchema }>>;
  };
}

interface Row extends Operation {
  readonly path: string;
  readonly method: string;
}

const OPENAPI = new URL('../../../docs/reference/openapi.json', import.meta.url);

function rowsOf(): readonly [Row, ...Row[]] {
  const { paths } = inlined(JSON.parse(readFileSync(OPENAPI, 'utf8')) as object) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      path,
      method: method.toUpperCase(),
    })),
  );
  const [first, ...rest] = rows;
  if (first === undefined) throw new Error('the OpenAPI document has no operation');
  return [first, ...rest];
}

export async function stallsLaw({ count, seed, log }: FuzzOrder): Promise<FuzzReport> {
  await using server = await startWatched();
  const rows = rowsOf();
  await fill(server);
  const named = namedRequests(server);
  const failures: string[] = [];
  let [runs, worst] = [0, 0];
  for (; runs < count && failures.length < REPORTED_MAX; runs += 1) {
    const random = seeded(seed * 1_000_003 + runs);
    const request = named[runs] ?? requestOf(rowOf(rows, random), server, random);
    const { fault, ms } = await judged(server, request);
    worst = Math.max(worst, ms);
    if (fault !== undefined)
      failures.push(`seed ${seed}, text ${runs}: ${fault}\n${briefly(request)}`);
  }
  log(`seed ${seed}: ${runs} long texts, the loop was blocked for ${worst} ms at most`);
  return { runs, failures };
}

const isFile = (path: string): boolean =>
  path.endsWith('/data/{workspace}/{id}') || path.startsWith('/generate-schema');

/** Picks a row; routes whose texts have their own scanners more often. */
function rowOf(rows: readonly [Row, ...Row[]], random: Seeded): Row {
  if (random.chance(0.5)) return random.pick(rows);
  const [first = rows[0], ...rest] = rows.filter(
    ({ method, path }) =>
      method === 'POST' && (isFile(path) || SPECIAL.some((one) => path.endsWith(one.path))),
  );
  return random.pick([first, ...rest]);
}

/** Requests that once blocked the loop. */
function namedRequests({ secret }: Watched): readonly RawRequest[] {
  const headers = { authorization: `Bearer ${secret}` };
  const post = (path: string, body: string): RawRequest => ({
    method: 'POST',
    target: `/v1${path}`,
    headers,
    body: Buffer.from(body),
  });
  const query = `${'/**//**/'.repeat(18)}DELETE`;
  const source = { type: 'POSTGRES', query };
  const digits = '9'.repeat(50_000);
  const wide = Array.from({ length: 150_000 }, (_, at) => `c${at}`).join(',');
  const members = Array.from({ length: 40 }, (_, record) =>
    Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`m${record}x${at}`, 1])),
  );
  return [
    post('/data-sources/FUZZ', JSON.stringify(source)),
    post('/data/FUZZ/DIGITS?wait=true', `symbol,v\nA,${digits}!\n`),
    post('/data/FUZZ/WIDE?wait=true', `${wide}\n`),
    post('/data/FUZZ/OPEN?wait=true', `symbol,v\nA,1\n"${'\n'.repeat(1_000_000)}`),
    post('/data/FUZZ/MEMBERS?wait=true', JSON.stringify(members)),
    post('/data/FUZZ/ALIKE?wait=true', `${'a,'.repeat(30_000)}\n`),
    post('/data/FUZZ/NUL?wait=true', `symbol,v\nA,(${'\n'.repeat(1_000_000)}\0`),
    post('/data/FUZZ/ENDS?wait=true', `symbol,v\n${'A,1,\n'.repeat(60_000)}`),
    post('/data/FUZZ/ABOVE?wait=true', `${'\n'.repeat(1_000_000)}symbol,v\nA,1\n`),
    post('/data/FUZZ/MANY?wait=true', `${'a,'.repeat(400_000)}\n${'1,'.repeat(60_000)}\n`),
  ];
}

async function fill({ base, secret, stoodStillMs }: Watched): Promise<void> {
  const url = `${base}/v1/data/FUZZ/PRICES?wait=true&token=${secret}`;
  const body = 'symbol,date,v\nA,2024-01-01,1\nB,2024-01-02,2\n';
  const answer = await fetch(url, { method: 'POST', body });
  if (!answer.ok) throw new Error(await answer.text());
  await stoodStillMs();
}

/** Repeats the request and takes the shortest block: the part that the request itself causes. */
async function judged(
  server: Watched,
  request: RawRequest,
): Promise<{ readonly fault: string | undefined; readonly ms: number }> {
  let least = Infinity;
  for (let time = 0; time < TIMES && least > BUDGET_MS; time += 1) {
    const answer = await send(server.port, request).catch((error: unknown) => ({
      status: 0,
      body: String(error),
    }));
    least = Math.min(least, await server.stoodStillMs());
    // A refusal that arrives while a large body is being sent may be lost with its connection.
    const isLost = answer.status === 0 && (request.body?.length ?? 0) > LOST_BYTES;
    const response = request.method === 'HEAD' || isLost ? { ...answer, body: '-' } : answer;
    const fault = isLost ? undefined : faultOf(response, server.folder);
    if (fault !== undefined) return { fault, ms: least };
  }
  const late = least > BUDGET_MS ? `the loop was blocked for ${least} ms each time` : undefined;
  return { fault: late, ms: least };
}

const briefly = ({ body, headers, method, target }: RawRequest): string => {
  const cut = (text: string): string =>
    text.length > 400 ? `${text.slice(0, 250)} … ${text.slice(-100)} (${text.length})` : text;
  return [method, cut(target), cut(JSON.stringify(headers)), cut(String(body ?? ''))].join('\n  ');
};

function requestOf(row: Row, server: Watched, random: Seeded): RawRequest {
  const token = row.path.startsWith('/admin') ? server.admin : server.secret;
  const headers = { authorization: `Bearer ${token}` };
  const places = [
    ...(row.requestBody === undefined ? [] : ['body', 'body', 'body']),
    ...((row.parameters ?? []).length === 0 ? [] : ['query', 'query', 'path']),
    'header',
  ] as const;
  const [first = 'header', ...rest] = places;
  const place = random.pick([first, ...rest]);
  const long = encodedText(random, place === 'path' ? SEGMENT_CHARACTERS : LINE_CHARACTERS);
  const target = `/v1${pathOf(row, random, place === 'path' ? long : undefined)}`;
  const { method } = row;
  if (place === 'query') {
    const named = (row.parameters ?? []).filter((one) => one.in === 'query');
    const name = named.length === 0 ? 'token' : random.pick([named[0], ...named])?.name;
    return { method, headers, target: `${target}?${name}=${long}`, body: undefined };
  }
  if (place === 'header') {
    const name = random.pick([
      'accept',
      'if-none-match',
      'referer',
      'authorization',
      'x-forwarded-for',
    ]);
    const value = longText(random, LINE_CHARACTERS / 2).replaceAll(/[^ -~]/g, 'x');
    return { method, headers: { ...headers, [name]: value }, target, body: undefined };
  }
  if (place !== 'body') return { method, headers, target, body: undefined };
  return { method, headers, target: `${target}?wait=true`, body: fileOrJson(row, random) };
}

/** A long text, encoded and cut to `characters`: encoding makes a text up to nine times as long. */
function encodedText(random: Seeded, characters: number): string {
  const text = encodeURIComponent(longText(random, characters));
  const cut = text.slice(0, characters);
  return cut.replace(/%[0-9A-F]?$/, '');
}

function pathOf({ path }: Row, random: Seeded, long: string | undefined): string {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const at = long === undefined || names.length === 0 ? '' : random.pick([names[0], ...names]);
  const pathNames: Readonly<Record<string, string>> = { workspace: 'FUZZ', id: 'PRICES', key: 'A' };
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === at ? (long ?? '') : (pathNames[name] ?? 'ingest'),
  );
}

function fileOrJson(row: Row, random: Seeded): Buffer {
  const schema = row.requestBody?.content['application/json']?.schema;
  if (isFile(row.path)) {
    const [first, ...rest] = FILES;
    const file = random.pick([first, ...rest]);
    const characters = random.pick([50_000, 60_000, FILE_CHARACTERS]);
    return Buffer.from(file?.(longText(random, characters)) ?? '');
  }
  const special = SPECIAL.filter(({ path }) => row.path.endsWith(path));
  const characters = random.pick([9_000, 50_000, BODY_CHARACTERS]);
  const one = special.length === 0 ? undefined : random.pick([special[0], ...special]);
  if (one !== undefined && (schema === undefined || random.chance(0.7)))
    return Buffer.from(JSON.stringify(one.body(longText(random, characters))));
  const long = (most: number): string => {
    const fits = random.chance(0.8) ? most : Infinity;
    return longText(random, Math.min(characters, fits)).slice(0, fits);
  };
  return Buffer.from(JSON.stringify(bodyOf(schema ?? {}, random, long)));
}
