// Composes rules, and the deliveries of their alerts.
import { type AlertRecordServices, saveAlert } from '../api/rules/datasetOutput.ts';
import { buildRuleReader, type RuleServices } from '../jobs/rules/ruleReaders.ts';
import type { Services } from '../api/request/endpoint.ts';
import { AlertDeliveries } from '../jobs/deliveries/alertDeliveries.ts';
import { listTableIds } from '../store/lake/pushes/pendingTable.ts';
import { systemResolve } from '../pipeline/sources/base/guard.ts';
import { openMail } from '../jobs/deliveries/mail.ts';
import { Rules } from '../jobs/rules/rules.ts';

export type RulesAndAlerts = Pick<Services, 'rules' | 'alertDeliveries'>;

type RulingParts = RuleServices &
  AlertRecordServices &
  Pick<Services, 'accounts' | 'database' | 'days' | 'secrets' | 'settings'>;

/** SPEC.md "Limits": timeout for receivers of alerts. */
const WEBHOOK_MS = 10_000;

export function composeRules(
  services: RulingParts,
  onFault: (reason: unknown) => void,
): RulesAndAlerts {
  const { clock, database, lake, pending, secrets, settings, streams } = services;
  const rules: Rules = new Rules({
    ...services,
    onFault,
    onWaiting: () => alertDeliveries.poke(),
    readerOf: (caller) => buildRuleReader(caller, services),
    wake: () => streams.feeds.wake(),
  });
  const alertDeliveries = new AlertDeliveries({
    clock,
    database,
    secrets,
    onFault,
    rules: {
      allowPrivateAddresses: settings.allowPrivateAddresses,
      deadlineMs: WEBHOOK_MS,
      idleMs: WEBHOOK_MS,
      resolve: systemResolve,
      onRefused: onFault,
    },
    sendMail: settings.smtp === '' ? undefined : openMail(settings.smtp, settings.mailFrom),
    saveRecord: (rule, alert) => saveAlert(rule, alert, services),
    ruleOf: (id) => rules.find(id),
    onGone: (rule) => rules.pause(rule, 'its receiver answered 410 Gone'),
  });
  lake.onChange(({ tableIds }) => rules.tablesChanged(tableIds));
  pending.onPush((pushes) => rules.tablesChanged(listTableIds(pushes)));
  return { rules, alertDeliveries };
}
