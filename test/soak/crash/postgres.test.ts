// The catalog in PostgreSQL, at the counts of continuous integration; `npm run soak kill-postgres` runs the
// full ones.
import { hasServers } from '../../base/servers/hasServers.ts';
import { postgresRounds } from './rounds/postgresRounds.ts';
import { testRounds } from './rounds/testRounds.ts';

testRounds('servers, PostgreSQL and what is between them end, and what was acknowledged stays', {
  isHere: await hasServers('postgres'),
  count: 2,
  run: postgresRounds,
});
