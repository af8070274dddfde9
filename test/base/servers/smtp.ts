// A mail server on loopback: aiosmtpd, which writes each accepted mail into a folder.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, startDaemon } from './daemon.ts';

interface MailServer extends AsyncDisposable {
  readonly port: number;
  /** Received mails, oldest first. */
  mails(): Promise<readonly string[]>;
}

/** Debian's own Python has the package. */
const PYTHON = '/usr/bin/python3';

// Mail to `no@…` is refused permanently, the first to `later@…` temporarily.
const SERVER = `
import asyncio, os, sys
from aiosmtpd.controller import Controller
folder, port = sys.argv[1], int(sys.argv[2])
count = 0
later = set()
class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith('no@'):
            return '550 no such person'
        if address.startswith('later@') and address not in later:
            later.add(address)
            return '451 come again'
        envelope.rcpt_tos.append(address)
        return '250 OK'
    async def handle_DATA(self, server, session, envelope):
        global count
        count += 1
        path = os.path.join(folder, '%06d' % count)
        with open(path + '.part', 'wb') as file:
            file.write(envelope.content)
        os.rename(path + '.part', path + '.eml')
        return '250 taken'
controller = Controller(Handler(), hostname='127.0.0.1', port=port)
controller.start()
asyncio.new_event_loop().run_forever()
`;

/** Undefined: the machine has no aiosmtpd (Debian: python3-aiosmtpd). */
export async function startMailServer(): Promise<MailServer | undefined> {
  try {
    await promisify(execFile)(PYTHON, ['-c', 'import aiosmtpd']);
  } catch {
    return undefined;
  }
  const stack = new AsyncDisposableStack();
  try {
    const folder = await mkdtemp(join(tmpdir(), 'tapedeck-mail-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const port = await freePort();
    const command = [PYTHON, '-c', SERVER, folder, String(port)];
    stack.use(await startDaemon({ command, isReady: () => greets(port) }));
    const owned = stack.move();
    return {
      port,
      mails: async () => {
        const names = (await readdir(folder)).filter((name) => name.endsWith('.eml')).sort();
        return Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
      },
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    };
  } finally {
    await stack.disposeAsync();
  }
}

const greets = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => resolve(true)).once('error', () => resolve(false));
    socket.once('data', () => socket.destroy());
  });
