// What is kept together: messages of some topics, how far they tell of what is stored, and where some are
// missing.
import { placeOf, placeText, type LogPlace } from './logPlace.ts';

export type LogEntry =
  | {
      readonly kind: 'message';
      readonly topic: string;
      readonly symbol: string;
      readonly json: string;
    }
  /** Everything up to a stand was told by the messages before it, the last of which has a place. */
  | {
      readonly kind: 'stand';
      readonly topic: string;
      readonly stand: string;
      readonly last: LogPlace;
    }
  /** Messages of the topic were told, and could not be kept. */
  | { readonly kind: 'hole'; readonly topic: string };

type Written =
  | readonly [topic: number, symbol: string, json: string]
  | readonly [topic: number, symbol: null, stand: string, last: string]
  | readonly [topic: number];

export function entriesText(entries: readonly LogEntry[]): string {
  const topics = [...new Set(entries.map(({ topic }) => topic))];
  const ordinals = new Map(topics.map((topic, at) => [topic, at]));
  const written = entries.map((entry): Written => {
    const topic = ordinals.get(entry.topic) ?? 0;
    if (entry.kind === 'hole') return [topic];
    if (entry.kind === 'message') return [topic, entry.symbol, entry.json];
    return [topic, null, entry.stand, placeText(entry.last)];
  });
  return JSON.stringify([topics, written]);
}

/** @param text as `entriesText` wrote it; what a later program adds is left out */
export function entriesOf(text: string): readonly LogEntry[] {
  const [topics, written] = JSON.parse(text) as [readonly string[], readonly Written[]];
  return written.flatMap((one): readonly LogEntry[] => {
    const topic = topics[one[0]];
    if (topic === undefined) return [];
    if (one.length === 1) return [{ kind: 'hole', topic }];
    if (one[1] !== null) return [{ kind: 'message', topic, symbol: one[1], json: one[2] }];
    const last = placeOf(one[3]);
    return last === undefined ? [] : [{ kind: 'stand', topic, stand: one[2], last }];
  });
}
