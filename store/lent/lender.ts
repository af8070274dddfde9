// A query process of this node that another one asks: its files are copies here, and what it writes goes
// back over the socket.
import type { ChildProcess } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join, sep } from 'node:path';
import { reasonOf } from '../base/failure.ts';
import type { Copies } from './copies.ts';
import type { FromChild, Request, Scope } from '../duckdb/protocol.ts';
import { literal } from '../duckdb/sqlText.ts';
import { drained, frameOf, framesIn, type FromLender, type ToLender } from './frames.ts';

/** So often it says that it is there, from a request to its answer. */
const TELL_MS = 200;
/** Pieces of a file, each a message. */
const PIECE_BYTES = 1024 ** 2;

interface LenderParts {
  readonly socket: Socket;
  readonly copies: Pick<Copies, 'hold' | 'lake'>;
  /** Of this process alone: what it spills and writes. */
  readonly folder: string;
  readonly start: () => ChildProcess;
}

/** Serves until the socket ends, and the process with it. */
export async function lend({ copies, folder, socket, start }: LenderParts): Promise<void> {
  let child: ChildProcess | undefined;
  let release = (): void => undefined;
  let telling: NodeJS.Timeout | undefined;
  /** What the child weighs. */
  let bytes = 0;
  /** A file that the statements of its question write. */
  let written: string | undefined;
  const ended = (): void => {
    clearInterval(telling);
    release();
  };
  const say = (message: FromLender): void => void socket.write(frameOf(message));
  const hear = async (message: FromChild): Promise<void> => {
    if (message.kind === 'answer') await sendFiles(message, written, socket);
    else if (message.kind === 'failure' && written !== undefined)
      await rm(written, { force: true });
    if (message.kind === 'answer' || message.kind === 'failure') ended();
    if (message.kind === 'memory') ({ bytes } = message);
    say(message);
  };
  const started = (): ChildProcess => {
    const made = start();
    made.on('message', (message: FromChild) => void hear(message).catch(() => socket.destroy()));
    made.once('exit', () => socket.destroy());
    return made;
  };
  const ask = async (request: Request, lake: string): Promise<void> => {
    try {
      telling = setInterval(() => say({ kind: 'memory', bytes }), TELL_MS);
      const own = ownRequest(request, lake, { copies, folder });
      written = own.request.written === undefined ? undefined : join(folder, own.request.written);
      release = await copies.hold(own.relative);
      await mkdir(folder, { recursive: true });
      child ??= started();
      child.send({ kind: 'request', request: own.request }, () => undefined);
    } catch (error) {
      say({ kind: 'failure', id: request.id, type: 'SystemError', detail: reasonOf(error) });
      ended();
    }
  };
  socket.on('error', () => undefined);
  try {
    for await (const frame of framesIn(socket)) {
      const message = frame as ToLender;
      if (message.kind === 'request') await ask(message.request, message.lake);
      else child?.send(message, () => undefined);
    }
  } catch {
    // The socket broke, or the other node said what nobody understands.
  } finally {
    socket.destroy();
    child?.removeAllListeners('exit');
    child?.kill('SIGKILL');
    ended();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The same request over the files of this machine. @throws Error where it names others */
function ownRequest(
  request: Request,
  lake: string,
  { copies, folder }: Pick<LenderParts, 'copies' | 'folder'>,
): { readonly request: Request; readonly relative: readonly string[] } {
  const { scope, statements } = request;
  const relative = scope.files.map((path) => {
    if (!path.startsWith(lake)) throw new Error('it reads a file of another machine');
    return path.slice(lake.length);
  });
  const own = (path: string): string =>
    path.startsWith(lake) ? `${copies.lake}${path.slice(lake.length)}` : copies.lake;
  // What a workspace's work shares is of that machine.
  const { folder: asked, folders, shared: _, ...rest } = scope;
  const ownScope: Scope = {
    ...rest,
    files: scope.files.map(own),
    ...(folders === undefined ? {} : { folders: folders.map(own) }),
    ...(asked === undefined ? {} : { folder }),
  };
  // Paths are the only texts of a statement that begin so: values are parameters, names are quoted otherwise.
  const moves = [
    [lake, copies.lake],
    ...(asked === undefined ? [] : [[`${asked}${sep}`, `${folder}${sep}`]]),
  ];
  const moved = statements.map((statement) =>
    moves.reduce(
      (text, [from = '', to = '']) => text.replaceAll(begin(from), begin(to)),
      statement,
    ),
  );
  return { relative, request: { ...request, scope: ownScope, statements: moved } };
}

/** Of a path, as statements have it. */
const begin = (path: string): string => literal(path).slice(0, -1);

/** What an answer has as a file of this machine goes before it. */
async function sendFiles(
  { answer, id }: Extract<FromChild, { readonly kind: 'answer' }>,
  written: string | undefined,
  socket: Socket,
): Promise<void> {
  const path = answer.kind === 'body' ? answer.body.file?.path : written;
  if (path === undefined) return;
  const pieces = createReadStream(path, { highWaterMark: PIECE_BYTES });
  for await (const bytes of pieces as AsyncIterable<Buffer>) {
    if (!socket.write(frameOf({ kind: 'piece', id, bytes }))) await drained(socket);
  }
  await rm(path, { force: true });
}
