// Requests that race for what is left of a quota, at the counts of continuous integration; `npm run soak
// quota-races` runs the full ones.
import { hasServers } from '../../../base/servers/hasServers.ts';
import { quotaRaces } from './quotaRaces.ts';
import { testRounds } from '../rounds/testRounds.ts';

testRounds('no message is used over a limit, and none is kept from those whose it is', {
  isHere: await hasServers('postgres', 'swift'),
  count: 8,
  run: quotaRaces,
});
