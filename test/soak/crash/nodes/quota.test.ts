// Requests that race for the rest of a quota, at the counts of continuous integration; `npm run soak
// quota-races` runs the full counts.
import { hasServers } from '../../../base/servers/hasServers.ts';
import { quotaRaces } from './quotaRaces.ts';
import { testRoundsTogether } from '../rounds/testRounds.ts';

testRoundsTogether('no message is used over a limit, and none below it is refused', {
  isHere: await hasServers('postgres', 'swift'),
  count: 4,
  run: quotaRaces,
});
