// Serves the documentation below `/docs`: pages with a search that works without a network.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Piscina } from 'piscina';
import { pageHtml } from './pageHtml.ts';
import type { DocsPage, RenderedDocs } from './renderDocs.ts';

const DOCS_FOLDER = join(import.meta.dirname, '..', '..', 'docs');

/** Scripts, styles and pictures of this server alone. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

const PICTURE_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

interface DocsFile {
  readonly contentType: string;
  readonly body: Buffer;
  readonly tag: string;
}

type OnResponse = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

/** @param fail receives the reason why pages could not be rendered; the next request tries again */
export function addDocs(
  server: FastifyInstance,
  onResponse: OnResponse,
  fail: (reason: unknown) => void,
): void {
  let files: Promise<ReadonlyMap<string, DocsFile>> | undefined;
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    reply.headers(HEADERS);
    try {
      files ??= renderFiles();
      const path = (request.params as Readonly<Record<string, string | undefined>>)['*'] ?? '';
      const file = (await files).get(path.replace(/\/$/, '')) ?? (await readPicture(path));
      if (file === undefined) return reply.code(404).type('text/plain').send('Not Found');
      reply.header('etag', file.tag);
      if (request.headers['if-none-match'] === file.tag) return reply.code(304).send();
      return reply.type(file.contentType).send(file.body);
    } catch (reason) {
      files = undefined;
      fail(reason);
      return reply.code(500).type('text/plain').send('The documentation could not be rendered.');
    }
  };
  server.get('/docs', { onResponse }, answer);
  server.get('/docs/*', { onResponse }, answer);
}

async function renderFiles(): Promise<ReadonlyMap<string, DocsFile>> {
  const pool = new Piscina({
    filename: new URL('./renderDocs.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
  });
  try {
    const docs = (await pool.run(DOCS_FOLDER, { name: 'renderDocs' })) as RenderedDocs;
    const style = await readFile(join(import.meta.dirname, 'docs.css'));
    const script = await readFile(join(import.meta.dirname, 'search.js'));
    const library = await readFile(fileURLToPath(import.meta.resolve('minisearch')));
    return new Map([
      ...docs.pages.map((page) => [page.path, htmlFile(page, docs.pages)] as const),
      ['assets/docs.css', toFile('text/css; charset=utf-8', style)],
      ['assets/search.js', toFile('text/javascript; charset=utf-8', script)],
      ['assets/minisearch.js', toFile('text/javascript; charset=utf-8', library)],
      ['assets/search.json', toFile('application/json', Buffer.from(docs.searchIndex))],
    ]);
  } finally {
    await pool.destroy();
  }
}

const htmlFile = (page: DocsPage, pages: readonly DocsPage[]): DocsFile =>
  toFile('text/html; charset=utf-8', Buffer.from(pageHtml(page, pages)));

function toFile(contentType: string, body: Buffer): DocsFile {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 32);
  return { contentType, body, tag: `"${hash}"` };
}

/** A picture of a page; undefined for whatever else a path names. */
async function readPicture(path: string): Promise<DocsFile | undefined> {
  const contentType = PICTURE_TYPES[extname(path)];
  const place = normalize(join(DOCS_FOLDER, path));
  if (contentType === undefined || !place.startsWith(DOCS_FOLDER)) return undefined;
  try {
    return toFile(contentType, await readFile(place));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
