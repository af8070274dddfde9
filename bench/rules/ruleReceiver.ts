// Receiver of webhooks in a separate process: reports its port, then the arrival time of each request in
// nanoseconds of the clock that all processes of a machine share.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((incoming, response) => {
  incoming.resume().on('end', () => {
    const arrived = process.hrtime.bigint();
    response.end('ok');
    process.send?.({ result: arrived });
  });
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ result: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => process.exit(0));
