// The server of a folder, or what is in its place. Ports are asked, never taken: a server that starts at
// this moment finds them free.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { reasonOf } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { VERSION } from '../../store/base/version.ts';
import { doorIn, serverFile } from '../reach/folderAccess.ts';
import { requestTo, type ServerDoor, unreached } from '../reach/serverDoor.ts';
import { fault, fine, type Finding, notice } from './finding.ts';

/** A server that works answers at once. */
const ANSWER_MS = 5_000;

interface ServerLook {
  readonly isRunning: boolean;
  readonly findings: readonly Finding[];
}

/** @param named a server elsewhere, in place of that of the folder */
export async function lookForServer(
  settings: Settings,
  named: ServerDoor | undefined,
): Promise<ServerLook> {
  const door = named ?? doorOf(settings.data);
  if (door === undefined) {
    return { isRunning: false, findings: [fine('server', 'no server runs on this folder')] };
  }
  try {
    const status = JSON.parse(await asked(door, '/v1/status')) as { readonly version?: string };
    const ready = (await asked(door, '/readyz')).trim();
    return { isRunning: true, findings: serverFindings(door, status.version, ready) };
  } catch (error) {
    const why = reasonOf(unreached(error, door));
    const advice = 'Start it again with `tapedeck serve`; its log says why it ended.';
    const finding =
      named === undefined
        ? notice('server', `the server of this folder does not answer: ${why}`, advice)
        : fault('server', why, 'Look at its address, its certificate and its log.');
    return { isRunning: false, findings: [finding] };
  }
}

function serverFindings(
  { base }: ServerDoor,
  version: string | undefined,
  ready: string,
): readonly Finding[] {
  const isReady = ready.startsWith('ready');
  const health =
    ready === 'ready'
      ? fine('server', `${base} is ready`)
      : isReady
        ? fault('server', `${base} is ${ready}`, '`tapedeck verify` names them.')
        : fault('server', `${base} is ${ready}`, '`tapedeck status` says more.');
  if (version === VERSION) return [health, fine('version', `this and the server are ${VERSION}`)];
  const what = `the server is Tapedeck ${version ?? 'of another kind'}, this command is ${VERSION}`;
  return [health, notice('version', what, 'Start the server again after an upgrade.')];
}

/** Undefined where no server left its address, or what it left can not be read. */
function doorOf(data: string): ServerDoor | undefined {
  try {
    return doorIn(readFileSync(serverFile(data), 'utf8'));
  } catch {
    return undefined;
  }
}

const asked = (door: ServerDoor, path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const request = requestTo(door, path, { method: 'GET', signal }, (answer) => {
      text(answer).then(resolve, reject);
    });
    request.once('error', reject);
    request.end();
  });

/** Without a server: whether its ports are free. */
export async function portFindings({
  host,
  port,
  sandboxPort,
  streamPort,
}: Settings): Promise<readonly Finding[]> {
  const ports = [port, sandboxPort, streamPort].filter((one) => one !== undefined && one !== 0);
  return Promise.all(
    ports.map(async (one = 0) => {
      if (!(await isTaken(host, one))) return fine('port', `${host}:${one} is free`);
      const advice = 'End the program that listens there, or name another in TAPEDECK_PORT.';
      return fault('port', `${host}:${one} is taken by another program`, advice);
    }),
  );
}

function isTaken(host: string, port: number): Promise<boolean> {
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return new Promise((resolve) => {
    const socket = connect({ host: local, port, timeout: ANSWER_MS });
    const tell = (taken: boolean) => (): void => {
      socket.destroy();
      resolve(taken);
    };
    socket.once('connect', tell(true));
    socket.once('error', tell(false));
    socket.once('timeout', tell(false));
  });
}
