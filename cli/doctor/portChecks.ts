// Checks the server of a folder, or its ports. Only connects to ports and never opens them, so that a server
// that starts at this moment finds them free.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { reasonOf } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { VERSION } from '../../store/base/version.ts';
import { parseServerFile, serverFile } from '../connect/folderAccess.ts';
import {
  openRequest,
  type ServerEndpoint,
  toConnectionFailure,
} from '../connect/serverEndpoint.ts';
import { fault, fine, type Finding, notice } from './finding.ts';

/** Deadline of a request; a healthy server answers immediately. */
const ANSWER_MS = 5_000;

interface ServerState {
  readonly isRunning: boolean;
  readonly findings: readonly Finding[];
}

/** @param named a remote server, checked instead of that of the folder */
export async function checkServer(
  settings: Settings,
  named: ServerEndpoint | undefined,
): Promise<ServerState> {
  const door = named ?? readServerFile(settings.data);
  if (door === undefined) {
    return { isRunning: false, findings: [fine('server', 'no server runs on this folder')] };
  }
  try {
    const status = JSON.parse(await requestText(door, '/v1/status')) as {
      readonly version?: string;
    };
    const ready = (await requestText(door, '/readyz')).trim();
    return { isRunning: true, findings: serverFindings(door, status.version, ready) };
  } catch (error) {
    const why = reasonOf(toConnectionFailure(error, door));
    const advice = 'Start it again with `tapedeck serve`; see its log for the cause.';
    const finding =
      named === undefined
        ? notice('server', `the server of this folder does not answer: ${why}`, advice)
        : fault('server', why, 'Check its address, its certificate and its log.');
    return { isRunning: false, findings: [finding] };
  }
}

function serverFindings(
  { base }: ServerEndpoint,
  version: string | undefined,
  ready: string,
): readonly Finding[] {
  const isReady = ready.startsWith('ready');
  const health =
    ready === 'ready'
      ? fine('server', `${base} is ready`)
      : isReady
        ? fault('server', `${base} is ${ready}`, '`tapedeck verify` names them.')
        : fault('server', `${base} is ${ready}`, '`tapedeck status` shows more.');
  if (version === VERSION) return [health, fine('version', `this and the server are ${VERSION}`)];
  const what = `the server is Tapedeck ${version ?? 'of another kind'}, this command is ${VERSION}`;
  return [health, notice('version', what, 'Start the server again after an upgrade.')];
}

/** Returns undefined if no server left its address, or if the address can't be read. */
function readServerFile(data: string): ServerEndpoint | undefined {
  try {
    return parseServerFile(readFileSync(serverFile(data), 'utf8'));
  } catch {
    return undefined;
  }
}

const requestText = (door: ServerEndpoint, path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const request = openRequest(door, path, { method: 'GET', signal }, (answer) => {
      text(answer).then(resolve, reject);
    });
    request.once('error', reject);
    request.end();
  });

/** Checks whether the ports are free, if no server runs. */
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
      const advice = 'Stop the program that listens there, or set another port in TAPEDECK_PORT.';
      return fault('port', `${host}:${one} is taken by another program`, advice);
    }),
  );
}

function isTaken(host: string, port: number): Promise<boolean> {
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return new Promise((resolve) => {
    const socket = connect({ host: local, port, timeout: ANSWER_MS });
    const finish = (isOpen: boolean) => (): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', finish(true));
    socket.once('error', finish(false));
    socket.once('timeout', finish(false));
  });
}
