// Measures the loop time of a message and its answer at the receiving node, over an open connection.
import { once } from 'node:events';
import { connect } from 'node:net';
import { requestChild, endChild, forkChild } from '../../http/childRequests.ts';
import { measureSpent } from './processorTimes.ts';

const MESSAGES = 10_000;
/** A line as long as a change message with a dataset and a version. */
const LINE = `${'x'.repeat(120)}\n`;

/** Returns the milliseconds of one loop. Each message is sent alone, which is the most expensive way. */
export async function measureMessage(): Promise<number> {
  const child = forkChild('../cluster/times/messageProcess.ts');
  try {
    const port = await requestChild<number>(child, {});
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    await once(socket, 'connect');
    const exchange = async (): Promise<number> => {
      for (let at = 0; at < MESSAGES; at += 1) {
        socket.write(LINE);
        await once(socket, 'data');
      }
      return MESSAGES;
    };
    await exchange();
    const { spent } = await measureSpent(child.pid ?? 0, undefined, exchange, (count) => count);
    socket.destroy();
    return spent.loop;
  } finally {
    await endChild(child);
  }
}
