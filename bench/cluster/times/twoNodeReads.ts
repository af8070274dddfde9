// Measures two nodes with a core each against one, for reads from memory that the second node answers itself.
// Client and nodes share two cores, so that the capacity of two machines is derived from processor time: of
// an answer at its node, and meanwhile at the serving node.
import { byMedian } from '../../http/clientProcess.ts';
import { type Ratio, measureRatio, roundFigure, type Measurement } from '../../base/measure.ts';
import {
  measureServingReads,
  measureReplicaReads,
  NOT_INSTALLED,
  openTwoNodes,
  type TwoNodes,
} from './replicaTimes.ts';
import type { ProcessorTimes } from './processorTimes.ts';

/** @param rows rows of the dataset to read */
export async function benchOwnReads(
  _place: string,
  rows: number,
  pairs: number,
): Promise<readonly (Ratio | string)[]> {
  const nodes = await openTwoNodes(rows);
  if (nodes === undefined) return [NOT_INSTALLED];
  await using _ending = nodes;
  const lines: string[] = [];
  const bench = { name: 'own reads: hot, by processor time', target: '>= 1.8', pairs };
  const ratio = await measureRatio(
    bench,
    () => measureTwo(nodes, (line) => lines.push(line)),
    () => measureOne(nodes),
  );
  return [ratio, ...lines.slice(1)];
}

const totalMs = ({ below, beside, loop }: ProcessorTimes): number => loop + beside + below;

/** Measures the processor time per answer. */
async function measureOne(nodes: TwoNodes): Promise<Measurement> {
  const { driven, spent } = await measureServingReads(nodes);
  return { ...byMedian(driven), ms: totalMs(spent) };
}

/** Measures the processor time per answer when both nodes are saturated, as for one node. */
async function measureTwo(nodes: TwoNodes, report: (line: string) => void): Promise<Measurement> {
  const alone = await measureOne(nodes);
  const { driven, forwarded, meanwhile, own } = await measureReplicaReads(nodes);
  const answersAMs = (1 - totalMs(meanwhile) / totalMs(own)) / alone.ms + 1 / totalMs(own);
  const of = (spent: ProcessorTimes): string =>
    `${roundFigure(totalMs(spent))} (loop ${roundFigure(spent.loop)})`;
  report(
    `processor ms of an answer: at the serving node ${roundFigure(alone.ms)}, at the other ${of(own)}, ` +
      `meanwhile at the serving node ${of(meanwhile)}; forwarded ${roundFigure(100 * forwarded)} %`,
  );
  return { ...byMedian(driven), ms: 1 / answersAMs };
}
