// Drains the rest of a body after its request was answered. Closing a connection with unread bytes resets it
// and loses the answer; many clients read none before they have sent everything.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { monotonicMs } from '../../store/base/clock.ts';

/** Bytes are read and discarded for at most this time, about 1 GB; then the connection is closed. */
const DRAIN_MAX_MS = 30_000;
/** Rate limit: four connections that sent at full speed, 280 MB/s each, slowed reads from 0.3 to 11 ms. */
const BYTES_PER_MS = 32 * 1024;
/** A shorter pause is not worth its timer. */
const PAUSE_MS = 20;

/** Whether the body was received in full. Injected requests, as those of agents, always are. */
export const isBodyComplete = ({ complete, headers }: RequestParts): boolean =>
  complete !== false || !hasBody(headers);

type RequestParts = Partial<Pick<IncomingMessage, 'complete'>> & Pick<IncomingMessage, 'headers'>;

/** Whether the headers announce a body: without one, `complete` is set only after the answer. */
export const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Resolves when the body has ended, or at the timeout: the answer may end then. */
export async function drainBody(incoming: IncomingMessage): Promise<void> {
  if (isBodyComplete(incoming) || incoming.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const beganMs = monotonicMs();
  const timeout = setTimeout(resolve, DRAIN_MAX_MS);
  let pause: NodeJS.Timeout | undefined;
  let bytes = 0;
  const onData = ({ length }: Buffer): void => {
    bytes += length;
    const excessMs = bytes / BYTES_PER_MS - (monotonicMs() - beganMs);
    if (excessMs < PAUSE_MS) return;
    incoming.pause();
    pause = setTimeout(() => incoming.resume(), excessMs);
  };
  incoming.on('data', onData).once('end', resolve).once('close', resolve).resume();
  await promise;
  clearTimeout(timeout);
  clearTimeout(pause);
  incoming.off('data', onData);
}

/** Sends a text immediately, and ends it when the rest of the body is drained. */
export async function* sendBeforeDrain(
  text: string,
  incoming: IncomingMessage,
): AsyncGenerator<string> {
  yield text;
  await drainBody(incoming);
}
