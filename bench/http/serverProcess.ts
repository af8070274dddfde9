// Our server on a filled folder, alone in a separate process, so that its processor time can be measured.
import { startBench, findToken } from '../base/stored.ts';
import { serveParent } from './childRequests.ts';
import type { ServerInfo, ServerOrder, ServerRequest } from './server.ts';

const { folder, hopKey, settings, watch } = JSON.parse(process.argv[2] ?? '{}') as ServerOrder;
const tapedeck = await startBench(folder, settings, { watch }, false, hopKey);
const info: ServerInfo = {
  base: tapedeck.base,
  publishable: await findToken(tapedeck, 'publishable'),
  secret: await findToken(tapedeck, 'secret'),
};
serveParent(async (request: ServerRequest) => {
  if (request.command === 'memory') return tapedeck.services.series.cache.state();
  await tapedeck.close();
  return true;
});
process.send?.({ result: info });
