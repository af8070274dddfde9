// What a message and its answer take of the loop of the node that has it, over a connection that stays open.
import { once } from 'node:events';
import { connect } from 'node:net';
import { answerOf, ended, forked } from '../../http/childAsked.ts';
import { spentOf } from './processorTimes.ts';

const MESSAGES = 10_000;
/** The length of a change that names a dataset and a version. */
const LINE = `${'x'.repeat(120)}\n`;

/** Milliseconds of one loop; each message alone, which is the dearest way. */
export async function measureMessage(): Promise<number> {
  const child = forked('../cluster/messageProcess.ts');
  try {
    const port = await answerOf<number>(child, {});
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    await once(socket, 'connect');
    const ask = async (): Promise<number> => {
      for (let at = 0; at < MESSAGES; at += 1) {
        socket.write(LINE);
        await once(socket, 'data');
      }
      return MESSAGES;
    };
    await ask();
    const { spent } = await spentOf(child.pid ?? 0, undefined, ask, (count) => count);
    socket.destroy();
    return spent.loop;
  } finally {
    await ended(child);
  }
}
