// Markup in every name, member, value, path and header of every route: no answer lets a browser run it. Every
// answer has the policy; Chromium opens those that a browser would show as a page.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ENDPOINTS } from '../../../../api/endpoints/index.ts';
import type { AnyEndpoint } from '../../../../api/request/endpoint.ts';
import { launch } from '../../../console/browser.ts';
import { startServer, type TestServer } from '../../../base/server.ts';
import { send } from '../../../base/client.ts';
import { seeded, type Seeded } from '../../crash/rounds/seeded.ts';
import { BODY_ROWS, targetOf } from '../bodies/rows.ts';
import { bodyWith, placesIn } from '../bodies/schemas.ts';

/** Markup that requests `/ran` if it runs. */
const MARKUP = `"><script>fetch('/ran')</script><img src=x onerror="fetch('/ran')">`;
const NAMED = '</title><svg onload=fetch("/ran")>';
const POLICY = "default-src 'none'; sandbox";

interface MarkupRequest {
  readonly what: string;
  readonly path: string;
  readonly init: RequestInit;
}

interface Page {
  readonly what: string;
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** Its markup runs, which proves that the browser would report it. */
const CONTROL: Page = {
  what: 'a page without a policy',
  status: 200,
  headers: [['content-type', 'text/html']],
  body: MARKUP,
};

interface MarkupReport {
  readonly failures: readonly string[];
  readonly answers: number;
  /** Pages that were opened in the browser. */
  readonly pages: number;
}

/** Sends `count` requests of all places of all routes, or all of them if `count` is larger. */
export async function markupLaw(count: number, seed: number): Promise<MarkupReport> {
  await using server = await startServer({ settings: { TAPEDECK_RATE_LIMIT: 'off' } });
  await send(server, 'POST', '/workspaces', { name: 'FUZZ' });
  const url = `${server.base}/v1/data/FUZZ/PRICES?wait=true&key=symbol&date=date&token=${server.secret}`;
  await fetch(url, { method: 'POST', body: 'symbol,date,v\nA,2024-01-02,1\n' });
  const failures: string[] = [];
  const pages: Page[] = [];
  const requests = chosen(all(server), count, seeded(seed));
  for (const { init, path, what } of requests) {
    const answer = await fetch(`${server.base}${path}`, { ...init, redirect: 'manual' });
    if ((answer.headers.get('content-type') ?? '').startsWith('text/event-stream')) {
      await answer.body?.cancel();
      continue;
    }
    const body = await answer.text();
    const policy = answer.headers.get('content-security-policy');
    const isConsole = path.startsWith('/console');
    if (policy !== POLICY && !isConsole) failures.push(`${what}: its policy is ${policy}`);
    if (answer.headers.get('x-content-type-options') !== 'nosniff')
      failures.push(`${what}: without nosniff`);
    pages.push({ what, status: answer.status, headers: [...answer.headers], body });
  }
  const documents = pages.filter(isShown);
  const [control, ...ran] = await openAll([CONTROL, ...documents]);
  if (control !== CONTROL.what) failures.push('the browser ran nothing of a page without a policy');
  return { failures: [...failures, ...ran], answers: pages.length, pages: documents.length };
}

/** True if a browser may render the answer as a document, including an answer without a type. */
const isShown = ({ body, headers }: Page): boolean => {
  const type = headers.find(([name]) => name === 'content-type')?.[1] ?? '';
  return /html|xml|svg/.test(type) || (type === '' && body !== '');
};

function chosen(
  requests: readonly MarkupRequest[],
  count: number,
  random: Seeded,
): readonly MarkupRequest[] {
  if (count >= requests.length) return requests;
  const rest = [...requests];
  return Array.from({ length: count }, () => rest.splice(random.between(0, rest.length - 1), 1))
    .flat()
    .filter((one) => one !== undefined);
}

const all = (server: TestServer): readonly MarkupRequest[] => [
  ...ENDPOINTS.flatMap((endpoint) => ofEndpoint(endpoint, server)),
  ...bodies(server),
];

/** Paths, queries and headers. */
function ofEndpoint(endpoint: AnyEndpoint, server: TestServer): readonly MarkupRequest[] {
  const { id, method, parameters, path } = endpoint;
  const token = endpoint.token === 'publishable' ? server.publishable : server.secret;
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const target = targetOf(endpoint);
  const navigates = { accept: 'text/html,*/*;q=0.8', 'sec-fetch-mode': 'navigate' };
  const makeRequest = (
    what: string,
    url: string,
    headers: Record<string, string> = {},
  ): MarkupRequest => {
    const separator = url.includes('?') ? '&' : '?';
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: MARKUP };
    return {
      what: `${id}, ${what}`,
      path: `${url}${separator}token=${token}`,
      init: { method, headers: { ...navigates, ...headers }, ...body },
    };
  };
  const query = (name: string, value: string): string =>
    `${target}?${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  return [
    ...names.map((name) =>
      makeRequest(`path ${name}`, targetOf(endpoint, { [name]: encodeURIComponent(MARKUP) })),
    ),
    ...parameters.map(({ name }) => makeRequest(`query ${name}`, query(name, MARKUP))),
    makeRequest('a name of the query', query(NAMED, '1')),
    makeRequest('the token', query('token', MARKUP)),
    makeRequest('headers', target, {
      'user-agent': NAMED,
      referer: `http://a.example/${NAMED}`,
      'x-forwarded-for': NAMED,
      'if-none-match': NAMED,
      'content-type': 'text/html',
    }),
  ];
}

/** Every member of every body, as a form of another site sends it. */
function bodies({ base, secret, tapedeck }: TestServer): readonly MarkupRequest[] {
  const headers = {
    'content-type': 'text/plain',
    'sec-fetch-mode': 'navigate',
    accept: 'text/html',
  };
  return BODY_ROWS.filter(({ id }) => base !== '' && !id.startsWith('mcp')).flatMap(
    ({ id, isAdmin, method, schema, targets }) =>
      placesIn(schema).flatMap(({ path }) =>
        [MARKUP, { [NAMED]: MARKUP }].map((value, at): MarkupRequest => {
          const token = isAdmin ? tapedeck.services.adminToken : secret;
          const body = JSON.stringify(bodyWith(schema, path, value));
          return {
            what: `${id}, body ${path.join('.')} ${at === 0 ? 'value' : 'member'}`,
            path: `${targets[1]}?token=${token}`,
            init: { method, headers, body },
          };
        }),
      ),
  );
}

/** Serves the pages to a browser, one after the other. @returns those in which something ran */
async function openAll(pages: readonly Page[]): Promise<readonly string[]> {
  let now: Page | undefined;
  const ran = new Set<string>();
  const server = createServer((request, response) => {
    if (now !== undefined && request.url?.startsWith('/page/') === true) {
      const pageHeaders = now.headers.filter(([name]) => CHECKED_HEADERS.has(name));
      response.writeHead(now.status === 304 ? 200 : now.status, Object.fromEntries(pageHeaders));
      return void response.end(now.body);
    }
    if (request.url === '/ran') {
      // A request of an earlier page may arrive late.
      const [, at] = /\/page\/(\d+)$/.exec(request.headers.referer ?? '') ?? [];
      ran.add((at === undefined ? now : pages[Number(at)])?.what ?? '');
    }
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const browser = await launch();
  try {
    const page = await browser.newPage();
    const { port } = server.address() as AddressInfo;
    for (const [at, one] of pages.entries()) {
      now = one;
      await page
        .goto(`http://127.0.0.1:${port}/page/${at}`, { waitUntil: 'load' })
        .catch(() => undefined);
    }
  } finally {
    await browser.close();
    await new Promise((resolve) => server.close(resolve));
  }
  return [...ran];
}

const CHECKED_HEADERS: ReadonlySet<string> = new Set([
  'content-type',
  'content-security-policy',
  'x-content-type-options',
  'content-disposition',
]);
