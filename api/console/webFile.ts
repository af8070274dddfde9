// A file of a page: compressed once, sent in the encoding that the browser accepts.
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface WebFile {
  readonly contentType: string;
  readonly plain: Buffer;
  readonly brotli: Buffer;
  readonly gzip: Buffer;
}

/** Brotli quality; moderate, because a person waits for the compression. */
const BROTLI_QUALITY = 7;

const asBrotli = promisify(brotliCompress);
const asGzip = promisify(gzip);

export async function compressFile(contentType: string, plain: Buffer): Promise<WebFile> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  const [brotli, gzipped] = await Promise.all([asBrotli(plain, { params }), asGzip(plain)]);
  return { contentType, plain, brotli, gzip: gzipped };
}

export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: WebFile,
): FastifyReply {
  const encodings = String(request.headers['accept-encoding'] ?? '')
    .split(',')
    .map((word) => word.split(';')[0]?.trim());
  reply.type(file.contentType);
  if (encodings.includes('br')) return reply.header('content-encoding', 'br').send(file.brotli);
  if (encodings.includes('gzip')) return reply.header('content-encoding', 'gzip').send(file.gzip);
  return reply.send(file.plain);
}
