// Alerts of rules while nodes end: each recorded alert was charged once and delivered, and no unrecorded
// alert was delivered.
import { setTimeout as sleep } from 'node:timers/promises';
import { openReceiver } from '../../../api/rules/ruleServer.ts';
import { fetchText } from '../rounds/killable.ts';
import { alertsOf, idOf, ruleOn, WEIGHT } from '../rounds/ruleRounds.ts';

export interface NodeRules extends AsyncDisposable {
  /** Called at the end, when no more records are pushed. */
  faults(base: string): Promise<readonly string[]>;
  /** Alerts that were delivered. */
  heard(): number;
}

/** Deliveries interrupted by the end of a node are retried after a second or more. */
const SOON_MS = 30_000;

/** @param symbols each has a rule that fires with its records, once a second at most */
export async function nodeRules(base: string, symbols: readonly string[]): Promise<NodeRules> {
  const receiver = await openReceiver();
  const ids: string[] = [];
  for (const symbol of symbols) {
    ids.push(await ruleOn(base, symbol, { method: 'webhook', url: receiver.url }));
  }
  const heard = (): ReadonlySet<string> => new Set(receiver.heard.map(idOf));
  return {
    heard: () => heard().size,
    faults: async (at) => {
      const sent = await alertsOf(at, ids, WEIGHT);
      const alertIds = new Set(sent.map(({ alertId }) => alertId));
      for (let waited = 0; heard().size < alertIds.size && waited < SOON_MS; waited += 50) {
        await sleep(50);
      }
      const missing = [...alertIds].filter((id) => !heard().has(id));
      const strange = [...heard()].filter((id) => !alertIds.has(id));
      const text = await fetchText(at, 'GET', '/account/usage/messages');
      const { keyUsage } = JSON.parse(text) as { keyUsage: Readonly<Record<string, number>> };
      const charged = keyUsage['ALERT_WEBHOOK'] ?? 0;
      return [
        ...missing.map((id) => `alert ${id} was not delivered`),
        ...strange.map((id) => `alert ${id} is not recorded`),
        ...(charged === sent.length * WEIGHT
          ? []
          : [`${charged} charged of ${sent.length} alerts`]),
      ];
    },
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  };
}
