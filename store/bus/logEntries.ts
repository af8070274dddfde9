// The entries of the log: messages of topics, checkpoints of the data that they cover, and gaps of missing
// messages.
import { parsePosition, formatPosition, type LogPosition } from './logPosition.ts';

export type LogEntry =
  | {
      readonly kind: 'message';
      readonly topic: string;
      readonly symbol: string;
      readonly json: string;
    }
  /** The messages before a checkpoint cover all data up to it; `last` is the position of the last of them. */
  | {
      readonly kind: 'checkpoint';
      readonly topic: string;
      readonly checkpoint: string;
      readonly last: LogPosition;
    }
  /** Messages of the topic were sent, but could not be logged. */
  | { readonly kind: 'gap'; readonly topic: string };

type EncodedEntry =
  | readonly [topic: number, symbol: string, json: string]
  | readonly [topic: number, symbol: null, checkpoint: string, last: string]
  | readonly [topic: number];

export function formatEntries(entries: readonly LogEntry[]): string {
  const topics = [...new Set(entries.map(({ topic }) => topic))];
  const ordinals = new Map(topics.map((topic, at) => [topic, at]));
  const encoded = entries.map((entry): EncodedEntry => {
    const topic = ordinals.get(entry.topic) ?? 0;
    if (entry.kind === 'gap') return [topic];
    if (entry.kind === 'message') return [topic, entry.symbol, entry.json];
    return [topic, null, entry.checkpoint, formatPosition(entry.last)];
  });
  return JSON.stringify([topics, encoded]);
}

/** Parses entries of `entriesText`, and ignores those that a later program adds. */
export function parseEntries(text: string): readonly LogEntry[] {
  const [topics, encoded] = JSON.parse(text) as [readonly string[], readonly EncodedEntry[]];
  return encoded.flatMap((one): readonly LogEntry[] => {
    const topic = topics[one[0]];
    if (topic === undefined) return [];
    if (one.length === 1) return [{ kind: 'gap', topic }];
    if (one[1] !== null) return [{ kind: 'message', topic, symbol: one[1], json: one[2] }];
    const last = parsePosition(one[3]);
    return last === undefined ? [] : [{ kind: 'checkpoint', topic, checkpoint: one[2], last }];
  });
}
