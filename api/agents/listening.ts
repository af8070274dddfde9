// Reading a stream for a moment.
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Answered } from './ask.ts';

/** Characters of a stream that are kept. */
const TEXT_MAX = 1_000_000;

/** Reads until it told enough, or time is up; leaving is what ends and settles it. */
export function listenThrough(
  open: (answered: (answer: IncomingMessage) => void) => ClientRequest,
  enough: (text: string) => boolean,
  timeMs: number,
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const asked = open((answer) => {
      let text = '';
      const end = (): void => {
        clearTimeout(timer);
        asked.destroy();
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
    asked.once('error', reject);
    asked.end();
  });
}
