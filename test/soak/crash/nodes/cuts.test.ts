// Nodes whose networks fail, at the counts of continuous integration; `npm run soak cut-nodes` runs the full
// ones.
import { hasServers } from '../../../base/servers/hasServers.ts';
import { cutRounds, hasHosts } from './cutRounds.ts';
import { testRoundsTogether } from '../rounds/testRounds.ts';

testRoundsTogether('a network between nodes fails, and what any of them acknowledged stays', {
  isHere: (await hasServers('postgres', 'swift')) && (await hasHosts()),
  count: 1,
  run: cutRounds,
});
