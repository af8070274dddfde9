// Works on loads of the serving node: receives the file, queries the catalog over the connection, and sends
// edits that name published files.
import { type FileHandle, open } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { LoadLake, LoadServices, LoadStore } from '../../pipeline/conform/load.ts';
import { runLoad } from '../../pipeline/merge/ingest.ts';
import { survive } from '../../store/base/crashPoints.ts';
import { Failure } from '../../store/base/failure.ts';
import { withOwnerFolder } from '../../store/base/workFolder.ts';
import { encodeFrame, decodeFrames } from '../../store/remote/frames.ts';
import type { Answers, Event, FromWorker, LoadAssignment } from './loadMessages.ts';
import type { Question, ToWorker } from './loadMessages.ts';
import { ALIVE_MS, toWireFailure } from './loadMessages.ts';

interface WorkerParts extends Pick<LoadServices, 'defaultsOf' | 'pool' | 'temporary'> {
  /** Name of this node. */
  readonly name: string;
  readonly socket: Socket;
  readonly files: LoadLake['files'];
}

/** Serves until the socket ends; then every load is cleaned up. */
export async function workOnLoads(parts: WorkerParts): Promise<void> {
  const { name, socket } = parts;
  let current: RemoteLoad | undefined;
  let received = 0;
  const send = (message: FromWorker): void => void socket.write(encodeFrame(message));
  socket.on('error', () => undefined);
  send({ kind: 'hello', node: name });
  try {
    for await (const frame of decodeFrames(socket)) {
      const message = frame as ToWorker;
      received += 1;
      if (message.kind === 'load')
        current = new RemoteLoad(message, { ...parts, countReceived: () => received, send });
      else if (message.kind === 'piece') await current?.piece(message.bytes);
      else if (message.kind === 'whole') current?.whole();
      else if (message.kind === 'answer') current?.receiveAnswer(message.ask, message.value);
      else current?.stop();
    }
  } catch {
    // The socket broke, or a message was not understood.
  } finally {
    socket.destroy();
    current?.stop();
    await current?.ended;
  }
}

/** The load was cancelled. */
const STOPPED = new Failure('Busy', 'the load is stopped');

interface RemoteLoadParts extends WorkerParts {
  readonly send: (message: FromWorker) => void;
  readonly countReceived: () => number;
}

class RemoteLoad {
  /** Resolves when the load is cleaned up. */
  readonly ended: Promise<void>;
  readonly #assignment: LoadAssignment;
  readonly #send: (message: FromWorker) => void;
  readonly #parts: RemoteLoadParts;
  readonly #abort = new AbortController();
  readonly #whole = Promise.withResolvers<void>();
  readonly #opened = Promise.withResolvers<FileHandle>();
  readonly #requests = new Map<number, PromiseWithResolvers<Answers[keyof Answers]>>();
  #lastRequestId = 0;

  constructor(assignment: LoadAssignment, parts: RemoteLoadParts) {
    this.#assignment = assignment;
    this.#send = parts.send;
    this.#parts = parts;
    // Avoids unhandled rejections: their consumers may have ended before.
    for (const { promise } of [this.#whole, this.#opened]) promise.catch(() => undefined);
    this.ended = this.#run();
  }

  /** Writes a piece of the file. A failed write ends the load. */
  async piece(bytes: Uint8Array): Promise<void> {
    try {
      await (await this.#opened.promise).writeFile(bytes);
    } catch (error) {
      this.#whole.reject(error);
    }
  }

  whole(): void {
    this.#whole.resolve();
  }

  receiveAnswer(requestId: number, value: Answers[keyof Answers]): void {
    this.#requests.get(requestId)?.resolve(value);
    this.#requests.delete(requestId);
  }

  stop(): void {
    this.#abort.abort(STOPPED);
    this.#whole.reject(STOPPED);
    this.#opened.reject(STOPPED);
    for (const { reject } of this.#requests.values()) reject(STOPPED);
    this.#requests.clear();
  }

  async #run(): Promise<void> {
    const { countReceived } = this.#parts;
    const alive = setInterval(
      () => this.#send({ kind: 'alive', heard: countReceived() }),
      ALIVE_MS,
    );
    try {
      await withOwnerFolder(this.#assignment.load.workspace, this.#parts.temporary, (folder) =>
        this.#workIn(folder),
      );
    } catch (error) {
      // Faults after the stop are ignored.
      if (!this.#abort.signal.aborted)
        this.#send({ kind: 'failed', failure: toWireFailure(error) });
      this.stop();
    } finally {
      clearInterval(alive);
      this.#send({ kind: 'free' });
    }
  }

  async #workIn(folder: string): Promise<void> {
    const path = join(folder, 'body');
    const file = await open(path, 'wx', 0o600);
    this.#opened.resolve(file);
    await this.#whole.promise.finally(() => file.close());
    const { load } = this.#assignment;
    await runLoad({
      load: { ...load, path },
      services: this.#services(load.workspace),
      events: {
        validating: async () => this.#sendEvent({ kind: 'validating' }),
        validated: async (records) => this.#sendEvent({ kind: 'validated', records }),
        ingesting: async () => this.#sendEvent({ kind: 'ingesting' }),
        progress: (percent) => this.#sendEvent({ kind: 'progress', percent }),
        log: async (message) => this.#sendEvent({ kind: 'log', message }),
      },
      store: this.#store(),
    });
  }

  #sendEvent(event: Event): void {
    if (!this.#abort.signal.aborted) this.#send(event);
  }

  #services(workspace: string): LoadServices {
    const { defaultsOf, pool, temporary } = this.#parts;
    const { deadlineMs, nowMs } = this.#assignment;
    return {
      defaultsOf,
      temporary,
      deadlineMs,
      at: survive,
      signal: this.#abort.signal,
      pool: pool.forAccount(workspace),
      clock: () => nowMs,
      lake: this.#lake(),
    };
  }

  #lake(): LoadLake {
    return {
      files: this.#parts.files,
      directory: { dataset: () => this.#assignment.dataset },
      table: (tableId) => this.#request({ of: 'table', tableId }),
      nextColumnId: (tableId) => this.#request({ of: 'columnId', tableId }),
      createStamp: (...stamp) => this.#request({ of: 'stamp', stamp }),
    };
  }

  #store(): LoadStore {
    return {
      create: (draft) => this.#request({ of: 'create', draft }),
      commit: (result) => this.#request({ of: 'keep', made: result }),
    };
  }

  #request<K extends keyof Answers>(question: Question & { readonly of: K }): Promise<Answers[K]> {
    this.#abort.signal.throwIfAborted();
    this.#lastRequestId += 1;
    const response = Promise.withResolvers<Answers[keyof Answers]>();
    this.#requests.set(this.#lastRequestId, response);
    this.#send({ kind: 'ask', ask: this.#lastRequestId, question });
    return response.promise as Promise<Answers[K]>;
  }
}
