// Counts the runs and alerts of an account's rules this month (SPEC.md "Account", usage types of rules and
// alerts).
import { lookupTable } from '../../store/base/lookupTable.ts';
import type { Services } from '../request/endpoint.ts';
import { type RuleCounts, listRuleDays } from '../../store/work/rules.ts';

/** The count of each usage type: runs of rules, runs that passed, charged alerts, their values. */
const COUNTED = lookupTable<Exclude<keyof RuleCounts, 'sent'>>({
  rules: 'evaluated',
  'rule-records': 'passed',
  alerts: 'alerts',
  'alert-records': 'told',
});

interface Sums {
  readonly month: number;
  readonly byDay: Readonly<Record<string, number>>;
  readonly byRule: Readonly<Record<string, number>>;
}

type UsageServices = Pick<Services, 'database' | 'ledger' | 'rules'>;

export async function ruleUsage(
  accountId: string,
  type: string,
  { database, ledger, rules }: UsageServices,
): Promise<Sums> {
  await rules.recorded();
  const counted = COUNTED[type] ?? 'evaluated';
  const byDay: Record<string, number> = {};
  const byRule: Record<string, number> = {};
  let month = 0;
  for (const row of await listRuleDays(database, accountId, `${ledger.month}01`)) {
    const count = row[counted];
    if (count === 0) continue;
    month += count;
    byDay[row.day] = (byDay[row.day] ?? 0) + count;
    byRule[row.rule_id] = (byRule[row.rule_id] ?? 0) + count;
  }
  return { month, byDay, byRule };
}
