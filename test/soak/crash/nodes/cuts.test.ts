// Nodes whose networks fail, at the counts of continuous integration; `npm run soak cut-nodes` runs the full
// counts.
import { hasServers } from '../../../base/servers/hasServers.ts';
import { cutRounds, hasHosts } from './cutRounds.ts';
import { testRoundsTogether } from '../rounds/testRounds.ts';

testRoundsTogether('acknowledged data survives failures of the network between nodes', {
  isHere: (await hasServers('postgres', 'swift')) && (await hasHosts()),
  count: 1,
  run: cutRounds,
});
