// Serves a query process of this node to another node. The process reads local copies of the files; its
// output files are sent back over the socket.
import type { ChildProcess } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join, sep } from 'node:path';
import { reasonOf } from '../base/failure.ts';
import type { FileCopies } from './fileCopies.ts';
import type { FromChild, Request, Scope } from '../duckdb/protocol.ts';
import { literal } from '../duckdb/sqlText.ts';
import {
  waitForDrain,
  encodeFrame,
  decodeFrames,
  type FromExecutor,
  type ToExecutor,
} from './frames.ts';

/** Interval of liveness messages while a request runs. */
const HEARTBEAT_MS = 200;
/** Size of one piece of a file; each piece is a message. */
const PIECE_BYTES = 1024 ** 2;

interface ExecutorParts {
  readonly socket: Socket;
  readonly copies: Pick<FileCopies, 'hold' | 'lake'>;
  /** Folder of this process alone, for spilled and written files. */
  readonly folder: string;
  readonly start: () => ChildProcess;
}

/** Serves requests until the socket closes, then kills the process. */
export async function serveExecutor({
  copies,
  folder,
  socket,
  start,
}: ExecutorParts): Promise<void> {
  let child: ChildProcess | undefined;
  let release = (): void => undefined;
  let heartbeat: NodeJS.Timeout | undefined;
  /** Memory of the child process. */
  let bytes = 0;
  /** File that the statements of the request write. */
  let written: string | undefined;
  const finishRequest = (): void => {
    clearInterval(heartbeat);
    release();
  };
  const send = (message: FromExecutor): void => void socket.write(encodeFrame(message));
  const handleChild = async (message: FromChild): Promise<void> => {
    if (message.kind === 'answer') await sendFiles(message, written, socket);
    else if (message.kind === 'failure' && written !== undefined)
      await rm(written, { force: true });
    if (message.kind === 'answer' || message.kind === 'failure') finishRequest();
    if (message.kind === 'memory') ({ bytes } = message);
    send(message);
  };
  const startChild = (): ChildProcess => {
    const spawned = start();
    spawned.on(
      'message',
      (message: FromChild) => void handleChild(message).catch(() => socket.destroy()),
    );
    spawned.once('exit', () => socket.destroy());
    return spawned;
  };
  const runRequest = async (request: Request, lake: string): Promise<void> => {
    try {
      heartbeat = setInterval(() => send({ kind: 'memory', bytes }), HEARTBEAT_MS);
      const local = toLocalRequest(request, lake, { copies, folder });
      written =
        local.request.written === undefined ? undefined : join(folder, local.request.written);
      release = await copies.hold(local.relative);
      await mkdir(folder, { recursive: true });
      child ??= startChild();
      child.send({ kind: 'request', request: local.request }, () => undefined);
    } catch (error) {
      send({ kind: 'failure', id: request.id, type: 'SystemError', detail: reasonOf(error) });
      finishRequest();
    }
  };
  socket.on('error', () => undefined);
  try {
    for await (const frame of decodeFrames(socket)) {
      const message = frame as ToExecutor;
      if (message.kind === 'request') await runRequest(message.request, message.lake);
      else child?.send(message, () => undefined);
    }
  } catch {
    // The socket broke, or the other node sent an invalid message.
  } finally {
    socket.destroy();
    child?.removeAllListeners('exit');
    child?.kill('SIGKILL');
    finishRequest();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Maps the request to the local files. @throws Error for a path outside of the lake */
function toLocalRequest(
  request: Request,
  lake: string,
  { copies, folder }: Pick<ExecutorParts, 'copies' | 'folder'>,
): { readonly request: Request; readonly relative: readonly string[] } {
  const { scope, statements } = request;
  const relative = scope.files.map((path) => {
    if (!path.startsWith(lake)) throw new Error('a file of the request is outside of the lake');
    return path.slice(lake.length);
  });
  const toLocalPath = (path: string): string =>
    path.startsWith(lake) ? `${copies.lake}${path.slice(lake.length)}` : copies.lake;
  // The data that requests of a workspace share is on the other machine.
  const { folder: remoteFolder, folders, shared: _, ...rest } = scope;
  const localScope: Scope = {
    ...rest,
    files: scope.files.map(toLocalPath),
    ...(folders === undefined ? {} : { folders: folders.map(toLocalPath) }),
    ...(remoteFolder === undefined ? {} : { folder }),
  };
  // Only paths have these prefixes in a statement: values are parameters, and names have other quotes.
  const moves = [
    [lake, copies.lake],
    ...(remoteFolder === undefined ? [] : [[`${remoteFolder}${sep}`, `${folder}${sep}`]]),
  ];
  const localStatements = statements.map((statement) =>
    moves.reduce(
      (text, [from = '', to = '']) => text.replaceAll(quotedPrefix(from), quotedPrefix(to)),
      statement,
    ),
  );
  return { relative, request: { ...request, scope: localScope, statements: localStatements } };
}

/** Returns the opening of a quoted path, as statements contain it. */
const quotedPrefix = (path: string): string => literal(path).slice(0, -1);

/** Sends the file of an answer in pieces before the answer. */
async function sendFiles(
  { answer, id }: Extract<FromChild, { readonly kind: 'answer' }>,
  written: string | undefined,
  socket: Socket,
): Promise<void> {
  const path = answer.kind === 'body' ? answer.body.file?.path : written;
  if (path === undefined) return;
  const pieces = createReadStream(path, { highWaterMark: PIECE_BYTES });
  for await (const bytes of pieces as AsyncIterable<Buffer>) {
    if (!socket.write(encodeFrame({ kind: 'piece', id, bytes }))) await waitForDrain(socket);
  }
  await rm(path, { force: true });
}
