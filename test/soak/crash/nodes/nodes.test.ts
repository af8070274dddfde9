// Several nodes over one catalog, at the counts of continuous integration; `npm run soak kill-nodes` runs the
// full counts.
import { hasServers } from '../../../base/servers/hasServers.ts';
import { nodeRounds } from './nodeRounds.ts';
import { testRoundsTogether } from '../rounds/testRounds.ts';

testRoundsTogether(
  'data that any node acknowledged survives when the serving node ends repeatedly',
  {
    isHere: await hasServers('postgres', 'swift', 'nats'),
    count: 1,
    run: nodeRounds,
  },
);
