// What the lake knows of its catalog, beside the files: whose they are and which snapshot is the newest.
// A catalog that was lost, restored or exchanged is told by it before anything is swept.
import { isoTime } from '../base/clock.ts';

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

/** Undefined for a text that is none: power may have been lost while it was written. */
export function headIn(text: string | undefined): Head | undefined {
  if (text === undefined) return undefined;
  try {
    const head = JSON.parse(text) as {
      readonly lake?: unknown;
      readonly snapshot?: unknown;
      readonly time?: unknown;
    };
    const timeMs = Date.parse(String(head.time));
    if (typeof head.lake !== 'string' || !Number.isInteger(head.snapshot)) return undefined;
    return { lake: head.lake, snapshot: Number(head.snapshot), timeMs };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export const headText = ({ lake, snapshot, timeMs }: Head): string =>
  `${JSON.stringify({ lake, snapshot, time: isoTime(timeMs), note: NOTE })}\n`;
