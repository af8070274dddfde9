// A disk that records every durable file operation in order, with the bytes that it made durable, and the
// size of the catalog's write-ahead log before and after each.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Disk } from '../../../../store/base/disk.ts';
import type { Seeded } from './seeded.ts';

/** A point in the history at which power may be lost. */
interface Moment {
  readonly what: string;
  readonly walBytes: number;
}

interface Span {
  /** Index of the moment at which it began. */
  readonly start: number;
  /** Index of the moment at which it ended; infinite until then. */
  end: number;
}

export type Operation = Span &
  (
    | { readonly kind: 'sync-file'; readonly path: string; readonly bytes: Buffer }
    | { readonly kind: 'sync-folder'; readonly path: string }
    | {
        readonly kind: 'rename';
        readonly from: string;
        readonly to: string;
        readonly bytes: Buffer;
      }
    | { readonly kind: 'remove'; readonly path: string }
    | {
        readonly kind: 'make-folder';
        readonly path: string;
        readonly createdFolders: readonly string[];
      }
  );

/** Syncs that a broken product would omit, to prove that the replay detects it. */
export type Omission = 'nothing' | 'file syncs' | 'folder syncs';

export class Tape {
  readonly moments: Moment[] = [];
  readonly operations: Operation[] = [];
  readonly #wal: string;

  constructor(wal: string) {
    this.#wal = wal;
  }

  /** Index of the new moment. */
  mark(what: string): number {
    const walBytes = existsSync(this.#wal) ? statSync(this.#wal).size : 0;
    this.moments.push({ what, walBytes });
    return this.moments.length - 1;
  }

  /** Runs an operation between its two moments. */
  async record(operation: Operation, run: () => Promise<void>): Promise<void> {
    this.operations.push(operation);
    await run();
    operation.end = this.mark(`after ${operation.kind}`);
  }

  span(kind: string): Span {
    return { start: this.mark(`before ${kind}`), end: Number.POSITIVE_INFINITY };
  }
}

/** Wraps the disk: records its operations, and delays some, so that other work runs between its steps. */
export function recordingDisk(
  disk: Disk,
  tape: Tape,
  random: Seeded,
  omission: Omission = 'nothing',
): Disk {
  const pause = async (): Promise<void> => {
    if (random.chance(0.3)) await sleep(random.between(1, 6));
  };
  const run = async (operation: Operation, work: () => Promise<void>): Promise<void> => {
    await pause();
    await tape.record(operation, work);
    await pause();
  };
  return {
    syncFile: async (path) => {
      if (omission === 'file syncs') return;
      const bytes = readFileSync(path);
      const operation = { kind: 'sync-file', path, bytes, ...tape.span('sync-file') } as const;
      await run(operation, () => disk.syncFile(path));
    },
    syncFolder: async (path) => {
      if (omission === 'folder syncs') return;
      const operation = { kind: 'sync-folder', path, ...tape.span('sync-folder') } as const;
      await run(operation, () => disk.syncFolder(path));
    },
    rename: async (from, to) => {
      const bytes = readFileSync(from);
      const operation = { kind: 'rename', from, to, bytes, ...tape.span('rename') } as const;
      await run(operation, () => disk.rename(from, to));
    },
    remove: async (path) => {
      const operation = { kind: 'remove', path, ...tape.span('remove') } as const;
      await run(operation, () => disk.remove(path));
    },
    makeFolder: async (path) => {
      const span = tape.span('make-folder');
      const operation = {
        kind: 'make-folder',
        path,
        createdFolders: missingFolders(path),
        ...span,
      } as const;
      await run(operation, () => disk.makeFolder(path));
    },
    list: (folder) => disk.list(folder),
  };
}

/** The folder and its parents that do not exist yet, the outermost first. */
function missingFolders(path: string): readonly string[] {
  return existsSync(path) ? [] : [...missingFolders(dirname(path)), path];
}
