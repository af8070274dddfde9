// Our server on a filled folder, as a process of its own, in which nothing else runs: what it takes of the
// processors can be told.
import { startBench, tokenOf } from '../base/stored.ts';
import { answerParent } from './childAsked.ts';
import type { Begun, ServerOrder, ServerQuestion } from './served.ts';

const { folder, hopKey, settings, watch } = JSON.parse(process.argv[2] ?? '{}') as ServerOrder;
const tapedeck = await startBench(folder, settings, { watch }, false, hopKey);
const begun: Begun = {
  base: tapedeck.base,
  publishable: await tokenOf(tapedeck, 'publishable'),
  secret: await tokenOf(tapedeck, 'secret'),
};
answerParent(async (question: ServerQuestion) => {
  if (question.ask === 'memory') return tapedeck.services.series.cache.state();
  await tapedeck.close();
  return true;
});
process.send?.({ told: begun });
