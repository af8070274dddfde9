// The real server in its own process that watches its event loop. It prints its base URL and tokens in one
// line; for each line on stdin it prints the longest turn of the loop since the last one, in milliseconds of
// its thread's processor time: time of other processes does not count.
// Argument: the data folder.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createWorkspace } from '../../../../store/lake/datasetEdits.ts';
import { startServer } from '../../../base/server.ts';

const STDOUT = 1;
/** Every turn of the loop runs a timer that is due: between two runs there is one turn. */
const RESOLUTION_MS = 1;
/** A blocked turn is noticed when the loop turns again. */
const SETTLE_MS = 4;

const [folder = ''] = process.argv.slice(2);
const settings = { TAPEDECK_ADMIN_TOKEN: 'ak_00000000000000000000000000000003' };
const server = await startServer({ folder, settings });
const { accounts, lake } = server.tapedeck.services;
const accountId = await accounts.createAccount('stalls', 'scale');
const { text: secret } = await accounts.createToken(accountId, 'secret');
await createWorkspace(lake, 'FUZZ', accountId, 0);

const workedMs = (): number => {
  const { system, user } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

let [before, longestMs] = [workedMs(), 0];
const look = (): void => {
  const now = workedMs();
  longestMs = Math.max(longestMs, now - before);
  before = now;
};
setInterval(look, RESOLUTION_MS).unref();

writeSync(STDOUT, `${server.base} ${secret} ${settings.TAPEDECK_ADMIN_TOKEN}\n`);

const lines = createInterface({ input: process.stdin });
lines.on('line', () => {
  setTimeout(() => {
    look();
    writeSync(STDOUT, `${Math.round(longestMs)}\n`);
    longestMs = 0;
  }, SETTLE_MS);
});
lines.on('close', () => void server.close().then(() => process.exit(0)));
