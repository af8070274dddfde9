// A query process of another node, as a pool has its own: messages go over a socket. A body that is a file
// comes in pieces, as one that statements wrote does, and is here before anybody hears of it.
import { EventEmitter } from 'node:events';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import type { Answer, Request, ToChild } from '../duckdb/protocol.ts';
import type { LentProcess } from '../duckdb/slots.ts';
import { frameOf, framesIn, type FromLender } from './frames.ts';

/** How soon it is asked whether the other machine is there, where nothing is said. */
const KEEP_ALIVE_MS = 10_000;

export class Borrowed extends EventEmitter implements LentProcess {
  readonly #socket: Socket;
  readonly #lake: string;
  #request: Request | undefined;
  #file: FileHandle | undefined;

  /** @param lake where the files are that the other node has too */
  constructor(socket: Socket, lake: string) {
    super();
    this.#socket = socket;
    this.#lake = lake;
    socket.on('error', () => undefined);
    // It may be a machine that is gone.
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    void this.#hear().finally(async () => {
      socket.destroy();
      await this.#file?.close().catch(() => undefined);
      this.emit('exit', null, 'lost');
    });
  }

  send(message: ToChild, done: () => void): void {
    if (message.kind === 'request') this.#request = message.request;
    const told = message.kind === 'request' ? { ...message, lake: this.#lake } : message;
    this.#socket.write(frameOf(told), done);
  }

  kill(): void {
    this.#socket.destroy();
  }

  async #hear(): Promise<void> {
    try {
      for await (const message of framesIn(this.#socket)) await this.#take(message as FromLender);
    } catch {
      // Whatever broke: its end is told, and what it was asked is asked elsewhere.
    }
  }

  async #take(message: FromLender): Promise<void> {
    if (message.kind === 'piece') {
      this.#file ??= await this.#opened();
      await this.#file.writeFile(message.bytes);
      return;
    }
    if (message.kind !== 'answer') {
      this.emit('message', message);
      return;
    }
    const answer = await this.#whole(message.answer);
    this.emit('message', { ...message, answer });
  }

  /** With its file where it is on this machine. */
  async #whole(answer: Answer): Promise<Answer> {
    const body = answer.kind === 'body' ? answer.body : undefined;
    if (body?.file === undefined && this.#request?.written === undefined) return answer;
    const file = this.#file ?? (await this.#opened());
    this.#file = undefined;
    await file.close();
    if (body?.file === undefined) return answer;
    const { length } = body.file;
    return { kind: 'body', body: { ...body, file: { path: this.#path(), length } } };
  }

  async #opened(): Promise<FileHandle> {
    await mkdir(dirname(this.#path()), { recursive: true });
    return open(this.#path(), 'w');
  }

  #path(): string {
    const { file, scope, written } = this.#request ?? {};
    const name = file?.name ?? written;
    if (scope?.folder === undefined || name === undefined) throw new Error('no file was asked for');
    return join(scope.folder, name);
  }
}
