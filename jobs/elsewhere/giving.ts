// Loads that this node, which serves, lets others work on: each goes to a node that is free, with its file,
// and comes back as edits that name published files. They are committed here, or nowhere.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type { Ingested, LoadWork, LoadWorkers, MadeLoad } from '../../pipeline/conform/load.ts';
import { drained, frameOf, framesIn } from '../../store/lent/frames.ts';
import type { Edit, WrittenFile } from '../../store/lake/edit.ts';
import { type Answers, type Event, failureOf } from './loadMessages.ts';
import type { FromWorker, Question, ToWorker } from './loadMessages.ts';

/** A smaller file is read in less time than it takes to ask: 1 MB of CSV takes 60 ms. */
const BYTES_MIN = 256 * 1024;
/** A node that works, and says or hears nothing for so long, is lost. */
const SILENT_MS = 5_000;
const KEEP_ALIVE_MS = 10_000;
/** Of a file, each a message: one that takes longer than `SILENT_MS` would be 50 KB/s. */
const PIECE_BYTES = 256 * 1024;

/** A load that a node works on. */
interface Given extends LoadWork {
  /** It is being committed: that ends as it does, whatever becomes of who asked for it. */
  isKept: boolean;
  readonly ended: PromiseWithResolvers<Ingested | undefined>;
}

interface GiverParts {
  readonly onFault: (reason: unknown) => void;
  /** Told when more loads may be worked on at once. */
  readonly onMore: () => void;
  /** Monotonic. */
  readonly nowMs: () => number;
  readonly silentMs?: number;
}

export class LoadGiver implements LoadWorkers {
  readonly #workers = new Set<Worker>();
  readonly #parts: GiverParts;
  #done = 0;

  constructor(parts: GiverParts) {
    this.#parts = parts;
  }

  /** Loads that other nodes worked on, to their end. */
  get done(): number {
    return this.#done;
  }

  /** Loads that other nodes may work on at once: of those that said so. */
  get places(): number {
    return [...this.#workers].filter(({ name }) => name !== '').length;
  }

  /** Until the connection ends. */
  join(socket: Socket): void {
    const worker = new Worker(socket, this.#parts);
    this.#workers.add(worker);
    void worker.ended.then(() => this.#workers.delete(worker));
  }

  async work(asked: LoadWork): Promise<Ingested | undefined> {
    const { events, load, services } = asked;
    if (this.#workers.size === 0 || !isForOthers(load)) return undefined;
    const { size } = await stat(load.path);
    if (size < BYTES_MIN) return undefined;
    services.signal?.throwIfAborted();
    const worker = [...this.#workers].find((one) => one.isFree);
    if (worker === undefined) return undefined;
    const outcome = await worker.work(asked);
    if (outcome !== undefined) this.#done += 1;
    else await events.log(`node ${worker.name} was lost: it begins again`);
    return outcome;
  }

  close(): void {
    for (const worker of this.#workers) worker.close();
  }
}

/** What was pushed, or invented, is made here. */
const isForOthers = ({ relation, standIn }: LoadWork['load']): boolean =>
  relation === undefined && standIn === undefined;

class Worker {
  /** Resolves when its connection is over. */
  readonly ended: Promise<void>;
  name = '';
  readonly #socket: Socket;
  readonly #parts: GiverParts;
  #given: Given | undefined;
  #isFree = false;
  #silent: NodeJS.Timeout | undefined;
  /** Messages that were said to it, those of them that it heard, and when that became more. */
  #said = 0;
  #heard = 0;
  #heardMs = 0;

  constructor(socket: Socket, parts: GiverParts) {
    this.#socket = socket;
    this.#parts = parts;
    socket.on('error', () => undefined);
    // It may be a machine that is gone.
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.ended = this.#hear();
  }

  get isFree(): boolean {
    return this.#isFree && !this.#socket.destroyed;
  }

  close(): void {
    this.#socket.destroy();
  }

  /**
   * While it is free; from the call on it is not.
   * @returns undefined where its node was lost, or can not do it
   * @throws as if it was worked on here
   */
  async work(asked: LoadWork): Promise<Ingested | undefined> {
    const { signal } = asked.services;
    const ended = Promise.withResolvers<Ingested | undefined>();
    const given = { ...asked, isKept: false, ended };
    this.#given = given;
    this.#isFree = false;
    this.#heardMs = this.#parts.nowMs();
    const stop = (): void => {
      if (!given.isKept) this.#end(() => ended.reject(signal?.reason));
    };
    signal?.addEventListener('abort', stop, { once: true });
    this.#listen();
    try {
      this.#give(given).catch((error: unknown) => {
        if (this.#given === given) this.#end(() => ended.reject(error));
      });
      return await ended.promise;
    } finally {
      signal?.removeEventListener('abort', stop);
      clearTimeout(this.#silent);
    }
  }

  /** The load, and its file no faster than it is taken. */
  async #give(given: Given): Promise<void> {
    const { events, load, services } = given;
    const { clock, deadlineMs, lake } = services;
    const { path, ...rest } = load;
    const dataset = lake.directory.dataset(load.workspace, load.dataset);
    this.#say({ kind: 'load', load: rest, dataset, deadlineMs, nowMs: clock() });
    await events.log(`node ${this.name} reads the file`);
    const pieces = createReadStream(path, { highWaterMark: PIECE_BYTES });
    for await (const bytes of pieces as AsyncIterable<Buffer>) {
      if (this.#given !== given || this.#socket.destroyed) return;
      if (!this.#say({ kind: 'piece', bytes })) await drained(this.#socket);
    }
    if (this.#given === given) this.#say({ kind: 'whole' });
  }

  #say(message: ToWorker): boolean {
    this.#said += 1;
    return this.#socket.write(frameOf(message));
  }

  /** Whoever is silent from now on is lost. */
  #listen(): void {
    clearTimeout(this.#silent);
    const { silentMs = SILENT_MS } = this.#parts;
    this.#silent = setTimeout(() => this.#socket.destroy(), silentMs);
  }

  /** The way to it may be cut where the way back is not. */
  #alive(heard: number): void {
    const { nowMs, silentMs = SILENT_MS } = this.#parts;
    if (heard > this.#heard || heard === this.#said) this.#heardMs = nowMs();
    this.#heard = heard;
    if (nowMs() - this.#heardMs > silentMs) this.#socket.destroy();
  }

  async #hear(): Promise<void> {
    try {
      for await (const message of framesIn(this.#socket)) {
        clearTimeout(this.#silent);
        await this.#take(message as FromWorker);
        if (this.#given !== undefined) this.#listen();
      }
    } catch {
      // Whatever broke: the load is worked on here then.
    } finally {
      this.#isFree = false;
      this.#socket.destroy();
      clearTimeout(this.#silent);
      this.#given?.ended.resolve(undefined);
      this.#given = undefined;
    }
  }

  async #take(message: FromWorker): Promise<void> {
    const given = this.#given;
    if (message.kind === 'hello') {
      this.name = message.node;
      this.#isFree = true;
      this.#parts.onMore();
    } else if (message.kind === 'free') {
      this.#isFree = true;
    } else if (given === undefined) {
      // What it says of a load that nobody waits for is of no interest.
    } else if (message.kind === 'alive') {
      this.#alive(message.heard);
    } else if (message.kind === 'failed') {
      const failure = failureOf(message.failure);
      if (failure === undefined)
        this.#parts.onFault(new Error(`${this.name}: ${message.failure.detail}`));
      this.#end(() =>
        failure === undefined ? given.ended.resolve(undefined) : given.ended.reject(failure),
      );
    } else if (message.kind === 'ask') await this.#answer(message.ask, message.question, given);
    else await told(message, given);
  }

  /** What fails here fails the load, as if it was worked on here. */
  async #answer(ask: number, question: Question, given: Given): Promise<void> {
    try {
      given.isKept = question.of === 'keep';
      const value = await answerTo(question, given);
      if (question.of === 'keep') this.#end(() => given.ended.resolve(question.made.outcome));
      else this.#say({ kind: 'answer', ask, value });
    } catch (error) {
      if (this.#given === given) this.#end(() => given.ended.reject(error));
    }
  }

  /** The load is over, whatever its node does yet. */
  #end(settle: () => void): void {
    if (this.#given === undefined) return;
    this.#given = undefined;
    settle();
    this.#say({ kind: 'stop' });
  }
}

async function told(event: Event, { events }: Given): Promise<void> {
  if (event.kind === 'validated') await events.validated(event.records);
  else if (event.kind === 'log') await events.log(event.message);
  else if (event.kind === 'progress') events.progress(event.percent);
  else await events[event.kind]();
}

async function answerTo(
  question: Question,
  { services: { lake, signal }, store }: Given,
): Promise<Answers[keyof Answers]> {
  signal?.throwIfAborted();
  if (question.of === 'table') return lake.table(question.tableId);
  if (question.of === 'columnId') return lake.nextColumnId(question.tableId);
  if (question.of === 'stamp') return lake.stamp(...question.stamp);
  if (question.of === 'create') return store.create(question.draft);
  await store.keep(unseen(question.made));
  return undefined;
}

/** Where a file was seen at another node tells nothing of copies here. */
const unseen = (made: MadeLoad): MadeLoad => ({
  ...made,
  edits: made.edits.map((edit): Edit => {
    if (edit.kind === 'insert') return { ...edit, file: unseenFile(edit.file) };
    if (edit.kind !== 'delete') return edit;
    const deletes = edit.deletes.map((one) => ({ ...one, file: unseenFile(one.file) }));
    return { ...edit, deletes };
  }),
});

const unseenFile = (file: WrittenFile): WrittenFile => ({
  ...file,
  proof: { ...file.proof, seen: null },
});
