// Liveness check of the local server by exit code, for an image without curl. It reads the address from the
// server's settings. It does not verify the certificate, because it connects to its own machine.
import { get as getPlain } from 'node:http';
import { get as getSecure } from 'node:https';

/** Below the `--timeout` of the Dockerfile. */
const DEADLINE_MS = 4_000;
const EVERYWHERE = ['0.0.0.0', '::'];

const { TAPEDECK_HOST, TAPEDECK_PORT, TAPEDECK_TLS_CERT } = process.env;
const isSecure = (TAPEDECK_TLS_CERT ?? '') !== '';
const host = TAPEDECK_HOST ?? '127.0.0.1';
const request = (isSecure ? getSecure : getPlain)(
  {
    host: EVERYWHERE.includes(host) ? '127.0.0.1' : host,
    port: TAPEDECK_PORT ?? '8080',
    path: '/healthz',
    timeout: DEADLINE_MS,
    rejectUnauthorized: false,
  },
  ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1),
);
for (const event of ['error', 'timeout']) request.on(event, () => process.exit(1));
