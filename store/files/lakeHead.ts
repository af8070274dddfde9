// What the lake knows of its catalog, beside the files: whose they are and which snapshot is the newest.
// A catalog that was lost, restored or exchanged is told by it before anything is swept.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isoTime } from '../base/clock.ts';
import type { Disk } from '../base/disk.ts';

export interface Head {
  readonly lake: string;
  readonly snapshot: number;
  readonly timeMs: number;
}

/** Whose files the lake's are, as they say themselves. */
export interface LakeOwner {
  readonly lake: string;
  readonly run: string;
  /** A commit is durable: the lake's own note follows before anyone is told. */
  moved(snapshot: number, timeMs: number): Promise<void>;
}

/** In the lake's folder; no catalog names it. */
export const HEAD_FILE = 'catalog.json';

const NOTE =
  'These files belong to the catalog of this lake at this snapshot or a later one. Do not edit.';

/** Undefined where there is none, or none that can be read: power may be lost while it is written. */
export async function readHead(lake: string): Promise<Head | undefined> {
  try {
    const head = JSON.parse(await readFile(join(lake, HEAD_FILE), 'utf8')) as {
      readonly lake?: unknown;
      readonly snapshot?: unknown;
      readonly time?: unknown;
    };
    const timeMs = Date.parse(String(head.time));
    if (typeof head.lake !== 'string' || !Number.isInteger(head.snapshot)) return undefined;
    return { lake: head.lake, snapshot: Number(head.snapshot), timeMs };
  } catch (error) {
    if (error instanceof SyntaxError || (error as { code?: string }).code === 'ENOENT') return;
    throw error;
  }
}

/**
 * Replaces it in one step. Not synced: it must outlive a kill, and after a loss of power an older one,
 * or none, only makes the start more careful.
 */
export async function writeHead(
  lake: string,
  { lake: id, snapshot, timeMs }: Head,
  disk: Disk,
): Promise<void> {
  const fresh = join(lake, `${HEAD_FILE}.new`);
  const text = JSON.stringify({ lake: id, snapshot, time: isoTime(timeMs), note: NOTE });
  await writeFile(fresh, `${text}\n`, { mode: 0o600 });
  await disk.rename(fresh, join(lake, HEAD_FILE));
}
