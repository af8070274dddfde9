// Serves the console below `/console`: one page for every screen, and its files. What a person sees there is
// what the API answers to her token; this door knows nothing of either.
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ConsoleFile, consoleFiles } from './bundle.ts';

/** Scripts and styles of this server alone, no markup out of texts, no frame around it, no form sent away. */
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

/** The name of a file changes with its content; the page says which ones it needs now. */
const FOR_EVER = 'public, max-age=31536000, immutable';

type OnResponse = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

interface Console {
  readonly page: ConsoleFile;
  /** Of the page: the same for as long as it is. */
  readonly tag: string;
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

/**
 * Adds the routes; nothing is compiled before somebody asks.
 * @param onResponse told of each answer
 * @param told told why the files could not be made; the next request tries again
 */
export function addConsole(
  server: FastifyInstance,
  onResponse: OnResponse,
  told: (reason: unknown) => void,
): void {
  let made: Promise<Console> | undefined;
  const files = (): Promise<Console> => (made ??= opened());
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    try {
      return sendConsole(request, reply, await files());
    } catch (reason) {
      made = undefined;
      told(reason);
      return reply
        .code(500)
        .type('text/plain')
        .send('the console could not be made; see the log\n');
    }
  };
  server.get('/console', { onResponse }, answer);
  server.get('/console/*', { onResponse }, answer);
}

async function opened(): Promise<Console> {
  const files = new Map((await consoleFiles()).map((file) => [file.name, file] as const));
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
  const below = (request.params as Readonly<Record<string, string | undefined>>)['*'] ?? '';
  reply.headers(HEADERS);
  if (!below.startsWith('assets/')) {
    reply.header('cache-control', 'no-cache').header('etag', tag);
    return request.headers['if-none-match'] === tag
      ? reply.code(304).send()
      : sendFile(request, reply, page);
  }
  const file = files.get(below.slice('assets/'.length));
  if (file === undefined || file === page) {
    return reply.code(404).header('cache-control', 'no-store').type('text/plain').send('Not Found');
  }
  return sendFile(request, reply.header('cache-control', FOR_EVER), file);
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: ConsoleFile): FastifyReply {
  const taken = String(request.headers['accept-encoding'] ?? '')
    .split(',')
    .map((word) => word.split(';')[0]?.trim());
  reply.type(file.contentType);
  if (taken.includes('br')) return reply.header('content-encoding', 'br').send(file.brotli);
  if (taken.includes('gzip')) return reply.header('content-encoding', 'gzip').send(file.gzip);
  return reply.send(file.plain);
}
