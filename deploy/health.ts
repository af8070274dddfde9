// Says by its exit code whether the server beside it is alive, for an image that has no curl: the same
// settings tell where it listens. Its certificate is not checked: this process asks its own machine.
import { get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';

/** Below the `--timeout` of the Dockerfile. */
const DEADLINE_MS = 4_000;
const EVERYWHERE = ['0.0.0.0', '::'];

const { TAPEDECK_HOST, TAPEDECK_PORT, TAPEDECK_TLS_CERT } = process.env;
const isSecure = (TAPEDECK_TLS_CERT ?? '') !== '';
const given = TAPEDECK_HOST ?? '127.0.0.1';
const asked = (isSecure ? getSecure : getPlain)(
  {
    host: EVERYWHERE.includes(given) ? '127.0.0.1' : given,
    port: TAPEDECK_PORT ?? '8080',
    path: '/healthz',
    timeout: DEADLINE_MS,
    rejectUnauthorized: false,
  },
  ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1),
);
for (const event of ['error', 'timeout']) asked.on(event, () => process.exit(1));
