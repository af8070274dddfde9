// The parent's side of a node that hands on.
import { answerOf, ended, forked } from '../../http/childAsked.ts';
import type { Side } from '../../http/clientProcess.ts';

export interface FrontOrder {
  /** Of the server to which it hands on. */
  readonly base: string;
  /** What it signs with. */
  readonly hopKey: string;
}

export async function startFront(order: FrontOrder): Promise<Side & AsyncDisposable> {
  const child = forked('../cluster/frontProcess.ts');
  const port = await answerOf<number>(child, order);
  return { port, pids: [child.pid ?? 0], [Symbol.asyncDispose]: () => ended(child) };
}
