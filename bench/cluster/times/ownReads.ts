// Two nodes, each with a core of its own, against one: reads that memory answers, where the second node
// answers its own. Client and nodes share two cores here, so that what two machines would carry is told by
// processor time: what an answer takes at its node, and what it takes at the one that serves meanwhile.
import { byMedian } from '../../http/clientProcess.ts';
import { type Ratio, ratioOf, rounded, type Taken } from '../../base/measure.ts';
import { hotAtServing, hotElsewhere, NOT_HERE, openTwoNodes, type TwoNodes } from './elsewhere.ts';
import type { Spent } from './processorTimes.ts';

/** @param rows of the dataset that is read */
export async function benchOwnReads(
  _place: string,
  rows: number,
  pairs: number,
): Promise<readonly (Ratio | string)[]> {
  const nodes = await openTwoNodes(rows);
  if (nodes === undefined) return [NOT_HERE];
  await using _ending = nodes;
  const lines: string[] = [];
  const bench = { name: 'own reads: hot, by processor time', target: '>= 1.8', pairs };
  const ratio = await ratioOf(
    bench,
    () => ofTwo(nodes, (line) => lines.push(line)),
    () => ofOne(nodes),
  );
  return [ratio, ...lines.slice(1)];
}

const allOf = ({ below, beside, loop }: Spent): number => loop + beside + below;

/** Processor time of an answer. */
async function ofOne(nodes: TwoNodes): Promise<Taken> {
  const { driven, spent } = await hotAtServing(nodes);
  return { ...byMedian(driven), ms: allOf(spent) };
}

/** How much of both nodes' processors an answer takes when both are full, as one node's. */
async function ofTwo(nodes: TwoNodes, tell: (line: string) => void): Promise<Taken> {
  const alone = await ofOne(nodes);
  const { driven, handedOn, meanwhile, own } = await hotElsewhere(nodes);
  const answersAMs = (1 - allOf(meanwhile) / allOf(own)) / alone.ms + 1 / allOf(own);
  const of = (spent: Spent): string => `${rounded(allOf(spent))} (loop ${rounded(spent.loop)})`;
  tell(
    `processor ms of an answer: at the node that serves ${rounded(alone.ms)}, at the other ${of(own)}, ` +
      `of the one that serves meanwhile ${of(meanwhile)}; handed on ${rounded(100 * handedOn)} %`,
  );
  return { ...byMedian(driven), ms: 1 / answersAMs };
}
