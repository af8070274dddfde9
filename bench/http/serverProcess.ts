// Our server on a filled folder, alone in a separate process, so that its processor time can be measured.
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
  if (question.command === 'memory') return tapedeck.services.series.cache.state();
  await tapedeck.close();
  return true;
});
process.send?.({ told: begun });
