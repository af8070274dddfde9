// Measures two nodes with a core each against one, for reads from memory that the second node answers itself.
// Client and nodes share two cores, so that the capacity of two machines is derived from processor time: of an
// answer at its node, and meanwhile at the serving node.
import { byMedian } from '../../http/clientProcess.ts';
import { type Ratio, ratioOf, rounded, type Taken } from '../../base/measure.ts';
import { hotAtServing, hotElsewhere, NOT_HERE, openTwoNodes, type TwoNodes } from './elsewhere.ts';
import type { Spent } from './processorTimes.ts';

/** @param rows rows of the dataset to read */
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

/** Measures the processor time per answer. */
async function ofOne(nodes: TwoNodes): Promise<Taken> {
  const { driven, spent } = await hotAtServing(nodes);
  return { ...byMedian(driven), ms: allOf(spent) };
}

/** Measures the processor time per answer when both nodes are saturated, as for one node. */
async function ofTwo(nodes: TwoNodes, report: (line: string) => void): Promise<Taken> {
  const alone = await ofOne(nodes);
  const { driven, handedOn, meanwhile, own } = await hotElsewhere(nodes);
  const answersAMs = (1 - allOf(meanwhile) / allOf(own)) / alone.ms + 1 / allOf(own);
  const of = (spent: Spent): string => `${rounded(allOf(spent))} (loop ${rounded(spent.loop)})`;
  report(
    `processor ms of an answer: at the serving node ${rounded(alone.ms)}, at the other ${of(own)}, ` +
      `meanwhile at the serving node ${of(meanwhile)}; forwarded ${rounded(100 * handedOn)} %`,
  );
  return { ...byMedian(driven), ms: 1 / answersAMs };
}
