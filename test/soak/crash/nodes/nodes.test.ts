// Several nodes over one catalog, at the counts of continuous integration; `npm run soak kill-nodes` runs the
// full ones.
import { hasServers } from '../../../base/servers/hasServers.ts';
import { nodeRounds } from './nodeRounds.ts';
import { testRoundsTogether } from '../rounds/testRounds.ts';

testRoundsTogether(
  'the node that serves ends, again and again, and what any node acknowledged stays',
  {
    isHere: await hasServers('postgres', 'swift', 'nats'),
    count: 2,
    run: nodeRounds,
  },
);
