// Reads a stream for a limited time.
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { ApiResponse } from './apiRequests.ts';

/** Characters of a stream that are buffered. */
const TEXT_MAX = 1_000_000;

/** Reads until `enough` accepts the text, or time is up; disconnecting ends and settles the stream. */
export function readStreamUntil(
  open: (onResponse: (answer: IncomingMessage) => void) => ClientRequest,
  enough: (text: string) => boolean,
  timeMs: number,
): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const request = open((answer) => {
      let text = '';
      const end = (): void => {
        clearTimeout(timer);
        request.destroy();
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
      };
      const timer = setTimeout(end, timeMs);
      answer.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
        if (text.length >= TEXT_MAX || (answer.statusCode === 200 && enough(text))) end();
      });
      answer.once('end', end);
      answer.once('error', end);
    });
    request.once('error', reject);
    request.end();
  });
}
