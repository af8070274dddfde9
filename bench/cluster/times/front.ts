// Parent's side of a forwarding node.
import { requestChild, endChild, forkChild } from '../../http/childRequests.ts';
import type { Side } from '../../http/clientProcess.ts';

export interface FrontOrder {
  /** Base URL of the server to forward to. */
  readonly base: string;
  /** Key that signs forwarded requests. */
  readonly hopKey: string;
}

export async function startFront(order: FrontOrder): Promise<Side & AsyncDisposable> {
  const child = forkChild('../cluster/times/frontProcess.ts');
  const port = await requestChild<number>(child, order);
  return { port, pids: [child.pid ?? 0], [Symbol.asyncDispose]: () => endChild(child) };
}
