// Sends a published file over HTTP: its length first, then its bytes as the client reads them (RFC 9110 14).
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { FileAnswer } from '../../reads/request/answer.ts';

/** @param watch disconnects a reader that is too slow */
export function sendFile(reply: FastifyReply, answer: FileAnswer, watch: () => void): void {
  const { bytes, contentType, onEnd, name, part, status, stream, tag } = answer;
  const length = status === 416 ? 0 : part.end - part.start;
  void reply.code(status).headers({
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
    'content-disposition': `attachment; filename="${name}"`,
    // A published file of any type must not run as a page of this server.
    'content-security-policy': "default-src 'none'; sandbox",
    'content-type': contentType,
    'content-length': String(length),
    etag: tag,
  });
  if (status === 206) {
    void reply.header('content-range', `bytes ${part.start}-${part.end - 1}/${bytes}`);
  }
  if (status === 416) void reply.header('content-range', `bytes */${bytes}`);
  if (stream === undefined) {
    // HEAD, or nothing to send: a stream keeps the length header.
    void reply.send(Readable.from([]));
    return;
  }
  const { raw } = reply;
  const close = (): void => {
    stream.destroy();
    onEnd(raw.writableFinished, length);
  };
  if (raw.closed || raw.destroyed) {
    close();
    return;
  }
  raw.once('close', close);
  watch();
  void reply.send(stream);
}
