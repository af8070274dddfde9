// The real server in a process of its own that watches its event loop. It says its base URL and
// tokens in one line; for each line on stdin it says how long the loop stood still at most since the
// last one, in milliseconds. Argument: the data folder.
import { writeSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { createWorkspace } from '../../../store/lake/datasetEdits.ts';
import { startServer } from '../../server.ts';

const STDOUT = 1;
const RESOLUTION_MS = 1;
/** The histogram learns of a standstill when the loop turns again. */
const SETTLE_MS = 4;

const [folder = ''] = process.argv.slice(2);
const settings = { TAPEDECK_ADMIN_TOKEN: 'ak_00000000000000000000000000000003' };
const server = await startServer({ folder, settings });
const { accounts, lake } = server.tapedeck.services;
const accountId = await accounts.createAccount('stalls', 'scale');
const { text: secret } = await accounts.createToken(accountId, 'secret');
await createWorkspace(lake, 'FUZZ', accountId, 0);
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
writeSync(STDOUT, `${server.base} ${secret} ${settings.TAPEDECK_ADMIN_TOKEN}\n`);

const lines = createInterface({ input: process.stdin });
lines.on('line', () => {
  setTimeout(() => {
    writeSync(STDOUT, `${Math.round(delay.max / 1e6) - RESOLUTION_MS}\n`);
    delay.reset();
  }, SETTLE_MS);
});
lines.on('close', () => void server.close().then(() => process.exit(0)));
