// Represents a query process of another node to the local pool; messages travel over a socket. The pieces of
// a body that is a file are written to disk before the answer is emitted.
import { EventEmitter } from 'node:events';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import type { Answer, Request, ToChild } from '../duckdb/protocol.ts';
import type { RemoteProcess } from '../duckdb/slots.ts';
import { encodeFrame, decodeFrames, type FromExecutor } from './frames.ts';

/** Delay of the TCP keep-alive probe on an idle connection. */
const KEEP_ALIVE_MS = 10_000;

export class RemoteExecutor extends EventEmitter implements RemoteProcess {
  readonly #socket: Socket;
  readonly #lake: string;
  #request: Request | undefined;
  #file: FileHandle | undefined;

  /** @param lake folder of the files that both nodes have */
  constructor(socket: Socket, lake: string) {
    super();
    this.#socket = socket;
    this.#lake = lake;
    socket.on('error', () => undefined);
    // Detects a machine that disappeared without closing the connection.
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    void this.#receive().finally(async () => {
      socket.destroy();
      await this.#file?.close().catch(() => undefined);
      this.emit('exit', null, 'lost');
    });
  }

  send(message: ToChild, done: () => void): void {
    if (message.kind === 'request') this.#request = message.request;
    const outgoing = message.kind === 'request' ? { ...message, lake: this.#lake } : message;
    this.#socket.write(encodeFrame(outgoing), done);
  }

  kill(): void {
    this.#socket.destroy();
  }

  async #receive(): Promise<void> {
    try {
      for await (const message of decodeFrames(this.#socket))
        await this.#handle(message as FromExecutor);
    } catch {
      // The exit event reports the failure; the pool runs the request on another process.
    }
  }

  async #handle(message: FromExecutor): Promise<void> {
    if (message.kind === 'piece') {
      this.#file ??= await this.#openFile();
      await this.#file.writeFile(message.bytes);
      return;
    }
    if (message.kind !== 'answer') {
      this.emit('message', message);
      return;
    }
    const answer = await this.#completeAnswer(message.answer);
    this.emit('message', { ...message, answer });
  }

  /** Replaces the file of a body by its local path. */
  async #completeAnswer(answer: Answer): Promise<Answer> {
    const body = answer.kind === 'body' ? answer.body : undefined;
    if (body?.file === undefined && this.#request?.written === undefined) return answer;
    const file = this.#file ?? (await this.#openFile());
    this.#file = undefined;
    await file.close();
    if (body?.file === undefined) return answer;
    const { length } = body.file;
    return { kind: 'body', body: { ...body, file: { path: this.#path(), length } } };
  }

  async #openFile(): Promise<FileHandle> {
    await mkdir(dirname(this.#path()), { recursive: true });
    return open(this.#path(), 'w');
  }

  #path(): string {
    const { file, scope, written } = this.#request ?? {};
    const name = file?.name ?? written;
    if (scope?.folder === undefined || name === undefined)
      throw new Error('the request has no file');
    return join(scope.folder, name);
  }
}
