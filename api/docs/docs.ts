// Serves the documentation below `/docs`: pages with a search that works without a network.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Workers } from '../../workers/workerPool.ts';
import type { WorkerTask } from '../../workers/workerTask.ts';
import { compressFile, sendFile, type WebFile } from '../console/webFile.ts';
import type { RenderedDocs } from './renderDocs.ts';

const DOCS_FOLDER = join(import.meta.dirname, '..', '..', 'docs');

/** Scripts, styles and pictures of this server alone. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  vary: 'accept-encoding',
};

/** Browsers check pages at each visit, and their scripts and pictures once an hour. */
const CACHE_OF_PAGES = 'no-cache';
const CACHE_OF_ASSETS = 'max-age=3600';

const SCRIPT = 'text/javascript; charset=utf-8';

const PICTURE_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

interface DocsFile extends WebFile {
  readonly tag: string;
}

interface Docs {
  readonly files: ReadonlyMap<string, DocsFile>;
  readonly pictures: ReadonlySet<string>;
}

type OnResponse = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

const DOCS_TASK: WorkerTask<string, RenderedDocs> = {
  file: new URL('./docsTask.ts', import.meta.url),
  name: 'documentation',
  deadlineMs: 30_000,
  // Requests share one rendering.
  waitingMax: { account: 1, all: 1 },
  isLong: false,
};

/** @param fail receives the reason why pages could not be rendered; the next request tries again */
export function addDocs(
  server: FastifyInstance,
  workers: Workers,
  onResponse: OnResponse,
  fail: (reason: unknown) => void,
): void {
  let loaded: Promise<Docs> | undefined;
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    try {
      return await sendDocs(request, reply.headers(HEADERS), await (loaded ??= loadDocs(workers)));
    } catch (reason) {
      loaded = undefined;
      fail(reason);
      return reply.code(500).type('text/plain').send('The documentation could not be rendered.');
    }
  };
  server.get('/docs', { onResponse }, answer);
  server.get('/docs/*', { onResponse }, answer);
}

async function sendDocs(
  request: FastifyRequest,
  reply: FastifyReply,
  { files, pictures }: Docs,
): Promise<FastifyReply> {
  const path = (request.params as Readonly<Record<string, string | undefined>>)['*'] ?? '';
  if (pictures.has(path)) {
    const picture = await readFile(join(DOCS_FOLDER, path));
    reply.header('cache-control', CACHE_OF_ASSETS);
    return reply.type(PICTURE_TYPES[extname(path)] ?? '').send(picture);
  }
  const file = files.get(path.replace(/\/$/, ''));
  if (file === undefined) return reply.code(404).type('text/plain').send('Not Found');
  reply.header('etag', file.tag);
  reply.header('cache-control', path.startsWith('assets/') ? CACHE_OF_ASSETS : CACHE_OF_PAGES);
  if (request.headers['if-none-match'] === file.tag) return reply.code(304).send();
  return sendFile(request, reply, file);
}

async function loadDocs(workers: Workers): Promise<Docs> {
  const signal = new AbortController().signal;
  const rendered = await workers.run(DOCS_TASK, { account: '', input: DOCS_FOLDER, signal });
  const { pages, pictures, searchIndex } = rendered;
  const texts: readonly (readonly [path: string, contentType: string, text: string | Buffer])[] = [
    ...pages.map(([path, html]) => [path, 'text/html; charset=utf-8', html] as const),
    ['assets/docs.css', 'text/css; charset=utf-8', await readFile(fileBeside('docs.css'))],
    ['assets/search.js', SCRIPT, await readFile(fileBeside('search.js'))],
    ['assets/minisearch.js', SCRIPT, await readFile(new URL(import.meta.resolve('minisearch')))],
    ['assets/search.json', 'application/json', searchIndex],
  ];
  const files = texts.map(
    async ([path, contentType, text]) =>
      [path, await toFile(contentType, Buffer.from(text))] as const,
  );
  return { files: new Map(await Promise.all(files)), pictures: new Set(pictures) };
}

const fileBeside = (name: string): string => join(import.meta.dirname, name);

async function toFile(contentType: string, plain: Buffer): Promise<DocsFile> {
  const hash = createHash('sha256').update(plain).digest('hex').slice(0, 32);
  return { ...(await compressFile(contentType, plain)), tag: `"${hash}"` };
}
