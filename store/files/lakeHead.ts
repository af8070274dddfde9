// The head file of the lake: the catalog that owns the files, and its latest snapshot. It reveals a lost,
// restored or exchanged catalog before any file is removed.
import { isoTime } from '../base/clock.ts';

export interface LakeHead {
  readonly lake: string;
  readonly snapshot: number;
  readonly timeMs: number;
}

/** The owner of the lake's files, according to the head file. */
export interface LakeOwner {
  readonly lake: string;
  readonly run: string;
  /** Updates the head file after a durable commit, before the commit is reported. */
  moved(snapshot: number, timeMs: number): Promise<void>;
}

/** Name of the head file in the lake's folder; no catalog names it. */
export const HEAD_FILE = 'catalog.json';

const NOTE =
  'These files belong to the catalog of this lake at this snapshot or a later one. Do not edit.';

/** Parses a head file; undefined if it is invalid, because power may be lost during its write. */
export function parseHead(text: string | undefined): LakeHead | undefined {
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

export const formatHead = ({ lake, snapshot, timeMs }: LakeHead): string =>
  `${JSON.stringify({ lake, snapshot, time: isoTime(timeMs), note: NOTE })}\n`;
