// Whether a node is reached from here. A network that lets nothing pass any more tells nobody: what was sent
// on a connection would be waited for without end.
import type { Agent } from 'node:http';
import { request as secureRequest } from 'node:https';
import { http } from '../../store/base/http.ts';
import type { RenewedAgent } from './renewedAgent.ts';

/** What lives says so at once. */
const ANSWER_MS = 2_000;
const PATH = '/healthz';
/** One that is not reached for so long is not waited for. */
const WAITED = { everyMs: 5_000, misses: 3 } as const;

export interface Reach {
  /** Asks, unless somebody asks already. */
  readonly isReached: () => Promise<boolean>;
  /** Tells, once, that it has not been reached for a while; until it is called off. */
  readonly watch: (onLost: () => void) => () => void;
}

interface ReachOptions {
  readonly ask: () => Promise<boolean>;
  /** How often a node is asked that others wait for. */
  readonly everyMs: number;
  /** In a row without an answer: one that is busy, or a network that is bad, may miss one. */
  readonly misses: number;
}

export function makeReach({ ask, everyMs, misses }: ReachOptions): Reach {
  const watching = new Set<() => void>();
  let asking: Promise<boolean> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let missed = 0;
  const isReached = (): Promise<boolean> =>
    (asking ??= ask().finally(() => {
      asking = undefined;
    }));
  const look = async (): Promise<void> => {
    missed = (await isReached()) ? 0 : missed + 1;
    if (missed < misses) return;
    const lost = [...watching];
    watching.clear();
    rest();
    for (const onLost of lost) onLost();
  };
  const rest = (): void => {
    if (watching.size > 0) return;
    clearInterval(timer);
    [timer, missed] = [undefined, 0];
  };
  return {
    isReached,
    watch: (onLost) => {
      watching.add(onLost);
      timer ??= setInterval(() => void look(), everyMs).unref();
      return () => {
        watching.delete(onLost);
        rest();
      };
    },
  };
}

/** Of a node, by what it says of its health. @param connections makes what connects to it */
export function nodeReach(url: URL, agent: RenewedAgent, connections: () => Agent): Reach {
  const ask = async (): Promise<boolean> => {
    const isReached = await saysItLives(url, connections());
    // What waits on them would wait for long, also once it is reached again.
    if (!isReached) agent.renew();
    return isReached;
  };
  return makeReach({ ask, ...WAITED });
}

/** On a connection of its own. */
async function saysItLives(url: URL, agent: Agent): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const send = url.protocol === 'https:' ? secureRequest : http.request;
  const sending = send(new URL(PATH, url), { agent }, (answer) => {
    answer.resume();
    resolve(answer.statusCode === 200);
  });
  const late = setTimeout(() => resolve(false), ANSWER_MS);
  sending.on('error', () => resolve(false)).end();
  return promise.finally(() => {
    clearTimeout(late);
    agent.destroy();
  });
}
