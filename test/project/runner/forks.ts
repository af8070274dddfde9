// The processes of test files, with a timeout: a file that takes longer is considered hanging.
import {
  ForksPoolWorker,
  type PoolOptions,
  type PoolRunnerInitializer,
  type WorkerRequest,
} from 'vitest/node';

const POOL_NAME = 'patient-forks';

/** Processes that end when a test file takes longer than `fileTimeoutMs`. */
export const patientForks = (fileTimeoutMs: number): PoolRunnerInitializer => ({
  name: POOL_NAME,
  createPoolWorker: (options) => new PatientFork(options, fileTimeoutMs),
});

class PatientFork extends ForksPoolWorker {
  override readonly name = POOL_NAME;
  readonly #fileTimeoutMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions, fileTimeoutMs: number) {
    super(options);
    this.#fileTimeoutMs = fileTimeoutMs;
  }

  override async start(): Promise<void> {
    await super.start();
    this.on('exit', () => clearTimeout(this.#timer));
  }

  override send(message: WorkerRequest): void {
    if (message.type === 'run') {
      clearTimeout(this.#timer);
      // vitest is notified that the process has ended, and continues with the next file in another one.
      this.#timer = setTimeout(() => void this.stop(), this.#fileTimeoutMs);
    }
    super.send(message);
  }

  override deserialize(data: unknown): unknown {
    const message = super.deserialize(data);
    if (typeOf(message) === 'testfileFinished') clearTimeout(this.#timer);
    return message;
  }

  override async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await super.stop();
  }
}

const typeOf = (message: unknown): unknown =>
  typeof message === 'object' && message !== null && 'type' in message ? message.type : undefined;
