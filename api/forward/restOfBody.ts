// What is still to come of a body when its request is answered. A connection that is closed with bytes unread
// is reset, and takes the answer with it; many clients read none before they have sent everything.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { monotonicMs } from '../../store/base/clock.ts';

/** For so long what comes is read and dropped, and so fast: about 1 GB; then the connection ends. */
const DROPPING_MS = 30_000;
/** Four connections that sent what they could, 280 MB/s each, slowed reads down from 0.3 to 11 ms. */
const BYTES_PER_MS = 32 * 1024;
/** A shorter pause is not worth its timer. */
const PAUSE_MS = 20;

/** Nothing of it is still to come. What came by no connection, as an agent's questions do, is all there. */
export const isWhole = ({ complete, headers }: Asked): boolean =>
  complete !== false || !hasBody(headers);

type Asked = Partial<Pick<IncomingMessage, 'complete'>> & Pick<IncomingMessage, 'headers'>;

/** A request without one is whole, though this is told only after it has been answered. */
export const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Resolves when nothing more comes, or after so long: an answer may end then. */
export async function dropRest(incoming: IncomingMessage): Promise<void> {
  if (isWhole(incoming) || incoming.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const beganMs = monotonicMs();
  const late = setTimeout(resolve, DROPPING_MS);
  let pause: NodeJS.Timeout | undefined;
  let bytes = 0;
  const drop = ({ length }: Buffer): void => {
    bytes += length;
    const aheadMs = bytes / BYTES_PER_MS - (monotonicMs() - beganMs);
    if (aheadMs < PAUSE_MS) return;
    incoming.pause();
    pause = setTimeout(() => incoming.resume(), aheadMs);
  };
  incoming.on('data', drop).once('end', resolve).once('close', resolve).resume();
  await promise;
  clearTimeout(late);
  clearTimeout(pause);
  incoming.off('data', drop);
}

/** A text that is sent at once, and ends when the rest of the body has come. */
export async function* beforeRest(text: string, incoming: IncomingMessage): AsyncGenerator<string> {
  yield text;
  await dropRest(incoming);
}
