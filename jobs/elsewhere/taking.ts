// Loads of the node that serves, worked on at this one: the file comes, what the catalog knows is asked for,
// and edits go back that name files which are published already.
import { type FileHandle, open } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { LoadLake, LoadServices, LoadStore } from '../../pipeline/conform/load.ts';
import { workOn } from '../../pipeline/merge/ingest.ts';
import { survive } from '../../store/base/crashPoints.ts';
import { Failure } from '../../store/base/failure.ts';
import { inFolderOf } from '../../store/base/workFolder.ts';
import { frameOf, framesIn } from '../../store/lent/frames.ts';
import type { Answers, Event, FromWorker, GivenLoad } from './loadMessages.ts';
import type { Question, ToWorker } from './loadMessages.ts';
import { ALIVE_MS, toldFailure } from './loadMessages.ts';

interface TakingParts extends Pick<LoadServices, 'defaultsOf' | 'pool' | 'temporary'> {
  /** Of this node. */
  readonly name: string;
  readonly socket: Socket;
  readonly files: LoadLake['files'];
}

/** Serves until the socket ends; then nothing is left of what was worked on. */
export async function takeLoads(parts: TakingParts): Promise<void> {
  const { name, socket } = parts;
  let taken: Taken | undefined;
  let heard = 0;
  const say = (message: FromWorker): void => void socket.write(frameOf(message));
  socket.on('error', () => undefined);
  say({ kind: 'hello', node: name });
  try {
    for await (const frame of framesIn(socket)) {
      const message = frame as ToWorker;
      heard += 1;
      if (message.kind === 'load')
        taken = new Taken(message, { ...parts, heard: () => heard, say });
      else if (message.kind === 'piece') await taken?.piece(message.bytes);
      else if (message.kind === 'whole') taken?.whole();
      else if (message.kind === 'answer') taken?.answered(message.ask, message.value);
      else taken?.stop();
    }
  } catch {
    // The socket broke, or the other node said what nobody understands.
  } finally {
    socket.destroy();
    taken?.stop();
    await taken?.ended;
  }
}

/** Nobody waits for it any more. */
const STOPPED = new Failure('Busy', 'the load is stopped');

interface TakenParts extends TakingParts {
  readonly say: (message: FromWorker) => void;
  readonly heard: () => number;
}

class Taken {
  /** Resolves when nothing is left of it. */
  readonly ended: Promise<void>;
  readonly #given: GivenLoad;
  readonly #say: (message: FromWorker) => void;
  readonly #parts: TakenParts;
  readonly #ending = new AbortController();
  readonly #whole = Promise.withResolvers<void>();
  readonly #opened = Promise.withResolvers<FileHandle>();
  readonly #asks = new Map<number, PromiseWithResolvers<Answers[keyof Answers]>>();
  #last = 0;

  constructor(given: GivenLoad, parts: TakenParts) {
    this.#given = given;
    this.#say = parts.say;
    this.#parts = parts;
    // Who waits for them may have ended before.
    for (const { promise } of [this.#whole, this.#opened]) promise.catch(() => undefined);
    this.ended = this.#run();
  }

  /** Of its file. What can not be written ends the load. */
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

  answered(ask: number, value: Answers[keyof Answers]): void {
    this.#asks.get(ask)?.resolve(value);
    this.#asks.delete(ask);
  }

  stop(): void {
    this.#ending.abort(STOPPED);
    this.#whole.reject(STOPPED);
    this.#opened.reject(STOPPED);
    for (const { reject } of this.#asks.values()) reject(STOPPED);
    this.#asks.clear();
  }

  async #run(): Promise<void> {
    const { heard } = this.#parts;
    const alive = setInterval(() => this.#say({ kind: 'alive', heard: heard() }), ALIVE_MS);
    try {
      await inFolderOf(this.#given.load.workspace, this.#parts.temporary, (folder) =>
        this.#workIn(folder),
      );
    } catch (error) {
      // What broke after it was stopped is of no interest.
      if (!this.#ending.signal.aborted) this.#say({ kind: 'failed', failure: toldFailure(error) });
      this.stop();
    } finally {
      clearInterval(alive);
      this.#say({ kind: 'free' });
    }
  }

  async #workIn(folder: string): Promise<void> {
    const path = join(folder, 'body');
    const file = await open(path, 'wx', 0o600);
    this.#opened.resolve(file);
    await this.#whole.promise.finally(() => file.close());
    const { load } = this.#given;
    await workOn({
      load: { ...load, path },
      services: this.#services(load.workspace),
      events: {
        validating: async () => this.#tell({ kind: 'validating' }),
        validated: async (records) => this.#tell({ kind: 'validated', records }),
        ingesting: async () => this.#tell({ kind: 'ingesting' }),
        progress: (percent) => this.#tell({ kind: 'progress', percent }),
        log: async (message) => this.#tell({ kind: 'log', message }),
      },
      store: this.#store(),
    });
  }

  #tell(event: Event): void {
    if (!this.#ending.signal.aborted) this.#say(event);
  }

  #services(workspace: string): LoadServices {
    const { defaultsOf, pool, temporary } = this.#parts;
    const { deadlineMs, nowMs } = this.#given;
    return {
      defaultsOf,
      temporary,
      deadlineMs,
      at: survive,
      signal: this.#ending.signal,
      pool: pool.of(workspace),
      clock: () => nowMs,
      lake: this.#lake(),
    };
  }

  #lake(): LoadLake {
    return {
      files: this.#parts.files,
      directory: { dataset: () => this.#given.dataset },
      table: (tableId) => this.#ask({ of: 'table', tableId }),
      nextColumnId: (tableId) => this.#ask({ of: 'columnId', tableId }),
      stamp: (...stamp) => this.#ask({ of: 'stamp', stamp }),
    };
  }

  #store(): LoadStore {
    return {
      create: (draft) => this.#ask({ of: 'create', draft }),
      keep: (made) => this.#ask({ of: 'keep', made }),
    };
  }

  #ask<K extends keyof Answers>(question: Question & { readonly of: K }): Promise<Answers[K]> {
    this.#ending.signal.throwIfAborted();
    this.#last += 1;
    const asked = Promise.withResolvers<Answers[keyof Answers]>();
    this.#asks.set(this.#last, asked);
    this.#say({ kind: 'ask', ask: this.#last, question });
    return asked.promise as Promise<Answers[K]>;
  }
}
