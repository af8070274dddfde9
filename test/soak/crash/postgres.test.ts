// The catalog in PostgreSQL, at the counts of continuous integration; `npm run soak kill-postgres` runs the
// full counts.
import { hasServers } from '../../base/servers/hasServers.ts';
import { postgresRounds } from './rounds/postgresRounds.ts';
import { testRounds } from './rounds/testRounds.ts';

testRounds('acknowledged data survives ends of servers, PostgreSQL and their connection', {
  isHere: await hasServers('postgres'),
  count: 2,
  run: postgresRounds,
});
