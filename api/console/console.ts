// Serves the console below `/console`: one page for every screen, and its files. The page reads its data from
// the API with the user's token; this handler sees neither.
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ConsoleFile, loadConsoleFiles } from './bundle.ts';
import { sendFile } from './webFile.ts';

/** Allows only scripts and styles of this server; no markup from texts, no frames, no forms. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'accept-encoding',
};

/** A file's name changes with its content; the page lists the current names. */
const FOR_EVER = 'public, max-age=31536000, immutable';

type OnResponse = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

interface Console {
  readonly page: ConsoleFile;
  /** The page's ETag. */
  readonly tag: string;
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

/**
 * Adds the routes; the console is compiled at the first request.
 * @param onResponse called for each answer
 * @param onError receives the reason why the files could not be compiled; the next request retries
 */
export function addConsole(
  server: FastifyInstance,
  onResponse: OnResponse,
  onError: (reason: unknown) => void,
): void {
  let loaded: Promise<Console> | undefined;
  const files = (): Promise<Console> => (loaded ??= loadConsole());
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    try {
      return sendConsole(request, reply, await files());
    } catch (reason) {
      loaded = undefined;
      onError(reason);
      return reply
        .code(500)
        .type('text/plain')
        .send('the console could not be compiled; see the log\n');
    }
  };
  server.get('/console', { onResponse }, answer);
  server.get('/console/*', { onResponse }, answer);
}

async function loadConsole(): Promise<Console> {
  const files = new Map((await loadConsoleFiles()).map((file) => [file.name, file] as const));
  const page = files.get('index.html');
  if (page === undefined) throw new Error('the console has no page');
  const hash = createHash('sha256').update(page.plain).digest('hex').slice(0, 32);
  return { page, tag: `"${hash}"`, files };
}

function sendConsole(
  request: FastifyRequest,
  reply: FastifyReply,
  { files, page, tag }: Console,
): FastifyReply {
  for (const name of Object.keys(reply.getHeaders())) {
    if (name.startsWith('access-control-')) reply.removeHeader(name);
  }
  const subpath = (request.params as Readonly<Record<string, string | undefined>>)['*'] ?? '';
  reply.headers(HEADERS);
  if (!subpath.startsWith('assets/')) {
    reply.header('cache-control', 'no-cache').header('etag', tag);
    return request.headers['if-none-match'] === tag
      ? reply.code(304).send()
      : sendFile(request, reply, page);
  }
  const file = files.get(subpath.slice('assets/'.length));
  if (file === undefined || file === page) {
    return reply.code(404).header('cache-control', 'no-store').type('text/plain').send('Not Found');
  }
  return sendFile(request, reply.header('cache-control', FOR_EVER), file);
}
