// Previews a feed: its first records, or those of some seconds.
import { land } from '../base/landing.ts';
import { type FeedDefinition, type Pull, SourceFailure } from '../base/source.ts';
import type { OutgoingRules } from '../http/outgoing.ts';
import { feedMessages } from './feedMessages.ts';
import { parseRecords } from './feedRecords.ts';

const SAMPLE_RECORDS = 100;
const SAMPLE_MS = 5_000;

/** Feeds run continuously: no job pulls from them. */
export const feedPull = (rules: OutgoingRules): Pull<FeedDefinition> =>
  async function* ({ credential, definition, landing, sample }) {
    if (sample !== true) {
      const { dataset, type } = definition;
      const rule = `a source of type ${type} feeds its dataset ${dataset} as long as it is active`;
      throw new SourceFailure(`${rule}: no schedule and no job takes from it`, false);
    }
    const over = AbortSignal.timeout(SAMPLE_MS);
    const signal = AbortSignal.any([landing.signal, over]);
    const onOpen = (): void => undefined;
    const order = { definition, credential, lastId: undefined, signal, onOpen };
    const lines: string[] = [];
    try {
      for await (const { text } of feedMessages(order, rules)) {
        const message = parseRecords(text, definition);
        if ('records' in message)
          lines.push(...message.records.map((record) => JSON.stringify(record)));
        if (lines.length >= SAMPLE_RECORDS) break;
      }
    } catch (error) {
      landing.signal.throwIfAborted();
      if (!over.aborted) throw error;
    }
    if (lines.length === 0) {
      throw new SourceFailure(`it sent no record in ${SAMPLE_MS / 1_000} s`, true);
    }
    const bytes = [Buffer.from(`${lines.join('\n')}\n`)];
    const landed = await land(bytes, landing, { before: 0, ofBytes: undefined });
    yield { name: definition.url, path: landed.path, bytes: landed.bytes, position: {} };
  };
