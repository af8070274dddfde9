// Dispatches loads of the serving node to other nodes: each goes to a free node, with its file, and returns
// as edits that name published files. Only this node commits them.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type {
  Ingested,
  LoadWork,
  LoadWorkers,
  PublishedLoad,
} from '../../pipeline/conform/load.ts';
import { waitForDrain, encodeFrame, decodeFrames } from '../../store/remote/frames.ts';
import type { Edit, WrittenFile } from '../../store/lake/edit.ts';
import { type Answers, type Event, fromWireFailure } from './loadMessages.ts';
import type { FromWorker, Question, ToWorker } from './loadMessages.ts';

/** A smaller file is read faster than it is dispatched: 1 MB of CSV takes 60 ms. */
const BYTES_MIN = 256 * 1024;
/** A busy node that sends nothing, or receives nothing, for this long is lost. */
const TIMEOUT_MS = 5_000;
const KEEP_ALIVE_MS = 10_000;
/** Bytes of a file per message: one that takes longer than `TIMEOUT_MS` would be 50 KB/s. */
const PIECE_BYTES = 256 * 1024;

/** A load that a node is working on. */
interface Assignment extends LoadWork {
  /** It is being committed: that finishes, even if its caller is gone. */
  isCommitting: boolean;
  readonly ended: PromiseWithResolvers<Ingested | undefined>;
}

interface DispatcherParts {
  readonly onFault: (reason: unknown) => void;
  /** Called when more loads may run concurrently. */
  readonly onMore: () => void;
  /** Monotonic. */
  readonly nowMs: () => number;
  readonly silentMs?: number;
}

export class LoadDispatcher implements LoadWorkers {
  readonly #workers = new Set<RemoteWorker>();
  readonly #parts: DispatcherParts;
  #done = 0;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
  }

  /** Loads that other nodes have finished. */
  get finishedCount(): number {
    return this.#done;
  }

  /** Concurrent loads on other nodes: of those that sent `hello`. */
  get slotCount(): number {
    return [...this.#workers].filter(({ name }) => name !== '').length;
  }

  /** Uses the node until the connection ends. */
  join(socket: Socket): void {
    const worker = new RemoteWorker(socket, this.#parts);
    this.#workers.add(worker);
    void worker.ended.then(() => this.#workers.delete(worker));
  }

  async work(loadWork: LoadWork): Promise<Ingested | undefined> {
    const { events, load, services } = loadWork;
    if (this.#workers.size === 0 || !canRunRemotely(load)) return undefined;
    const { size } = await stat(load.path);
    if (size < BYTES_MIN) return undefined;
    services.signal?.throwIfAborted();
    const worker = [...this.#workers].find((one) => one.isFree);
    if (worker === undefined) return undefined;
    const outcome = await worker.work(loadWork);
    if (outcome !== undefined) this.#done += 1;
    else await events.log(`node ${worker.name} was lost: the load starts again`);
    return outcome;
  }

  close(): void {
    for (const worker of this.#workers) worker.close();
  }
}

/** Pushed and synthetic records are loaded locally. */
const canRunRemotely = ({ relation, standIn }: LoadWork['load']): boolean =>
  relation === undefined && standIn === undefined;

class RemoteWorker {
  /** Resolves when its connection is over. */
  readonly ended: Promise<void>;
  name = '';
  readonly #socket: Socket;
  readonly #parts: DispatcherParts;
  #assignment: Assignment | undefined;
  #isFree = false;
  #timeout: NodeJS.Timeout | undefined;
  /** Messages sent to it, those that it has acknowledged, and the time of the last progress. */
  #sent = 0;
  #acked = 0;
  #ackedMs = 0;

  constructor(socket: Socket, parts: DispatcherParts) {
    this.#socket = socket;
    this.#parts = parts;
    socket.on('error', () => undefined);
    // Detects a machine that is gone.
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.ended = this.#receive();
  }

  get isFree(): boolean {
    return this.#isFree && !this.#socket.destroyed;
  }

  close(): void {
    this.#socket.destroy();
  }

  /**
   * Runs a load; the worker must be free, and is busy from the call on.
   * @returns undefined where its node was lost, or can not do it
   * @throws as if the load ran locally
   */
  async work(loadWork: LoadWork): Promise<Ingested | undefined> {
    const { signal } = loadWork.services;
    const ended = Promise.withResolvers<Ingested | undefined>();
    const assignment = { ...loadWork, isCommitting: false, ended };
    this.#assignment = assignment;
    this.#isFree = false;
    this.#ackedMs = this.#parts.nowMs();
    const stop = (): void => {
      if (!assignment.isCommitting) this.#end(() => ended.reject(signal?.reason));
    };
    signal?.addEventListener('abort', stop, { once: true });
    this.#restartTimeout();
    try {
      this.#dispatch(assignment).catch((error: unknown) => {
        if (this.#assignment === assignment) this.#end(() => ended.reject(error));
      });
      return await ended.promise;
    } finally {
      signal?.removeEventListener('abort', stop);
      clearTimeout(this.#timeout);
    }
  }

  /** Sends the load, and its file no faster than it is consumed. */
  async #dispatch(assignment: Assignment): Promise<void> {
    const { events, load, services } = assignment;
    const { clock, deadlineMs, lake } = services;
    const { path, ...rest } = load;
    const dataset = lake.directory.dataset(load.workspace, load.dataset);
    this.#send({ kind: 'load', load: rest, dataset, deadlineMs, nowMs: clock() });
    await events.log(`node ${this.name} reads the file`);
    const pieces = createReadStream(path, { highWaterMark: PIECE_BYTES });
    for await (const bytes of pieces as AsyncIterable<Buffer>) {
      if (this.#assignment !== assignment || this.#socket.destroyed) return;
      if (!this.#send({ kind: 'piece', bytes })) await waitForDrain(this.#socket);
    }
    if (this.#assignment === assignment) this.#send({ kind: 'whole' });
  }

  #send(message: ToWorker): boolean {
    this.#sent += 1;
    return this.#socket.write(encodeFrame(message));
  }

  /** Restarts the silence timeout. */
  #restartTimeout(): void {
    clearTimeout(this.#timeout);
    const { silentMs = TIMEOUT_MS } = this.#parts;
    this.#timeout = setTimeout(() => this.#socket.destroy(), silentMs);
  }

  /** Detects a connection that is cut in one direction only. */
  #checkProgress(acked: number): void {
    const { nowMs, silentMs = TIMEOUT_MS } = this.#parts;
    if (acked > this.#acked || acked === this.#sent) this.#ackedMs = nowMs();
    this.#acked = acked;
    if (nowMs() - this.#ackedMs > silentMs) this.#socket.destroy();
  }

  async #receive(): Promise<void> {
    try {
      for await (const message of decodeFrames(this.#socket)) {
        clearTimeout(this.#timeout);
        await this.#handle(message as FromWorker);
        if (this.#assignment !== undefined) this.#restartTimeout();
      }
    } catch {
      // After any fault the load runs locally.
    } finally {
      this.#isFree = false;
      this.#socket.destroy();
      clearTimeout(this.#timeout);
      this.#assignment?.ended.resolve(undefined);
      this.#assignment = undefined;
    }
  }

  async #handle(message: FromWorker): Promise<void> {
    const assignment = this.#assignment;
    if (message.kind === 'hello') {
      this.name = message.node;
      this.#isFree = true;
      this.#parts.onMore();
    } else if (message.kind === 'free') {
      this.#isFree = true;
    } else if (assignment === undefined) {
      // Messages of a load that has ended are ignored.
    } else if (message.kind === 'alive') {
      this.#checkProgress(message.heard);
    } else if (message.kind === 'failed') {
      const failure = fromWireFailure(message.failure);
      if (failure === undefined)
        this.#parts.onFault(new Error(`${this.name}: ${message.failure.detail}`));
      this.#end(() =>
        failure === undefined
          ? assignment.ended.resolve(undefined)
          : assignment.ended.reject(failure),
      );
    } else if (message.kind === 'ask')
      await this.#answer(message.ask, message.question, assignment);
    else await forwardEvent(message, assignment);
  }

  /** A failure here fails the load, as if it ran locally. */
  async #answer(requestId: number, question: Question, assignment: Assignment): Promise<void> {
    try {
      assignment.isCommitting = question.of === 'keep';
      const value = await answerQuestion(question, assignment);
      if (question.of === 'keep') this.#end(() => assignment.ended.resolve(question.made.outcome));
      else this.#send({ kind: 'answer', ask: requestId, value });
    } catch (error) {
      if (this.#assignment === assignment) this.#end(() => assignment.ended.reject(error));
    }
  }

  /** Ends the load, even if its node is still working. */
  #end(settle: () => void): void {
    if (this.#assignment === undefined) return;
    this.#assignment = undefined;
    settle();
    this.#send({ kind: 'stop' });
  }
}

async function forwardEvent(event: Event, { events }: Assignment): Promise<void> {
  if (event.kind === 'validated') await events.validated(event.records);
  else if (event.kind === 'log') await events.log(event.message);
  else if (event.kind === 'progress') events.progress(event.percent);
  else await events[event.kind]();
}

async function answerQuestion(
  question: Question,
  { services: { lake, signal }, store }: Assignment,
): Promise<Answers[keyof Answers]> {
  signal?.throwIfAborted();
  if (question.of === 'table') return lake.table(question.tableId);
  if (question.of === 'columnId') return lake.nextColumnId(question.tableId);
  if (question.of === 'stamp') return lake.createStamp(...question.stamp);
  if (question.of === 'create') return store.create(question.draft);
  await store.commit(dropSeen(question.made));
  return undefined;
}

/** Checks of a file at another node do not apply to copies of this one. */
const dropSeen = (result: PublishedLoad): PublishedLoad => ({
  ...result,
  edits: result.edits.map((edit): Edit => {
    if (edit.kind === 'insert') return { ...edit, file: dropSeenOfFile(edit.file) };
    if (edit.kind !== 'delete') return edit;
    const deletes = edit.deletes.map((one) => ({ ...one, file: dropSeenOfFile(one.file) }));
    return { ...edit, deletes };
  }),
});

const dropSeenOfFile = (file: WrittenFile): WrittenFile => ({
  ...file,
  proof: { ...file.proof, seen: null },
});
