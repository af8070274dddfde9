// Alerts as records of a dataset of the rule's owner: what is checked before, and how each is stored, once.
import { Readable } from 'node:stream';
import { namedFact } from '../../jobs/rules/runningRule.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure } from '../../store/base/failure.ts';
import type { ColumnMapping, Dataset } from '../../store/datasets/datasets.ts';
import { createDataset as makeDataset } from '../../store/lake/datasetEdits.ts';
import type { Alert } from '../../store/work/alerts.ts';
import type { Rule, RuleBody } from '../../store/work/rules.ts';
import { checkName } from '../../store/versions/columns.ts';
import { changeableIn, checkDatasetRoom, ownWorkspaces } from '../auth/access.ts';
import { draftOf } from '../datasets/datasetBody.ts';
import { type RecordServices, writeRecords } from '../ingest/recordWriting.ts';
import type { Services } from '../request/endpoint.ts';
import { callOf } from './standingCall.ts';

/** An alert's own id is in the index: what is stored twice is one record. */
const INDEX: ColumnMapping = { key: 'symbol', subkey: 'alertId', date: 'time' };

const BODY = {
  title: 'Alerts of rules',
  columnMapping: INDEX,
  uniqueIndex: true,
  schema: {
    properties: {
      symbol: { type: 'string' },
      alertId: { type: 'string' },
      time: { type: 'string', format: 'date-time' },
      ruleId: { type: 'string' },
      ruleName: { type: 'string' },
      data: { type: 'object' },
    },
  },
} as const;

interface Place {
  readonly workspace: string;
  readonly dataset: string;
}

/** `ID`, of the account's first workspace, or `WORKSPACE.ID`. @throws Failure InvalidBody. */
function placeOf(name: string, caller: Caller, { lake }: Pick<Services, 'lake'>): Place {
  const dot = name.indexOf('.');
  const [first] = ownWorkspaces(caller, lake);
  const workspace = dot < 0 ? (first?.workspace ?? '') : name.slice(0, dot);
  const dataset = name.slice(dot + 1);
  checkName('outputs[0].dataset', dataset);
  return { workspace, dataset };
}

/**
 * What must hold before a rule may write there.
 * @param others rules of the account, without this one
 * @throws Failure NotFound, Restricted of the token; InvalidParameter of a dataset with another index, or a
 * circle.
 */
export function checkDatasetOutput(
  body: RuleBody,
  others: readonly Rule[],
  caller: Caller,
  services: Pick<Services, 'lake' | 'queries'>,
): void {
  const name = body.output.members['dataset'];
  if (name === undefined) return;
  const place = placeOf(name, caller, services);
  const owned = changeableIn(caller, place.workspace, place.dataset, 'write', services.lake);
  const known = services.lake.directory.dataset(owned.workspace, place.dataset);
  if (known === undefined) checkDatasetRoom(caller, owned, place.dataset, services);
  else if (!hasIndex(known)) throw notOfAlerts(place.dataset);
  refuseCircles(body, others, caller, services);
}

const hasIndex = ({ mapping }: Dataset): boolean =>
  mapping.key === INDEX.key && mapping.subkey === INDEX.subkey && mapping.date === INDEX.date;

const notOfAlerts = (dataset: string): Failure =>
  new Failure(
    'InvalidParameter',
    `outputs[0].dataset ${dataset} has another index than alerts: symbol, alertId, time`,
  );

/** A rule that wakes itself would fire for ever: by what it writes, or by what others write of that. */
function refuseCircles(
  body: RuleBody,
  others: readonly Rule[],
  caller: Caller,
  services: Pick<Services, 'lake'>,
): void {
  const pathOf = ({ dataset, workspace }: Place): string => `${workspace}.${dataset}`.toUpperCase();
  const writes = ({ output }: RuleBody): string | undefined => {
    const name = output.members['dataset'];
    return name === undefined ? undefined : pathOf(placeOf(name, caller, services));
  };
  const own = writes(body);
  const reached = new Set<string>();
  const open = own === undefined ? [] : [own];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    if (readBy(body).has(next)) {
      const told = `outputs[0].dataset ${next} is read by this rule, or leads to what it reads`;
      throw new Failure('InvalidParameter', `${told}: it would fire for ever`);
    }
    for (const rule of others) {
      const place = readBy(rule.body).has(next) ? writes(rule.body) : undefined;
      if (place !== undefined) open.push(place);
    }
  }
}

/** Datasets that a rule reads, by their paths. */
function readBy({ additionalIndex, additionalKeys, conditions, index }: RuleBody): Set<string> {
  const texts = [...conditions.flat(), ...index, ...additionalIndex, ...additionalKeys];
  const names = texts.filter((text): text is string => typeof text === 'string');
  const paths = new Set<string>();
  for (const name of names.filter((one) => one.split(':').length > 3)) {
    const fact = namedFact(name);
    if (fact !== undefined) paths.add(`${fact.workspace}.${fact.namespace}`.toUpperCase());
  }
  return paths;
}

export type AlertRecordServices = RecordServices & Pick<Services, 'accounts'>;

/** @throws Failure of what the token that made the rule lacks by now, or of what does not fit. */
export async function saveAlert(
  rule: Rule,
  alert: Alert,
  services: AlertRecordServices,
): Promise<void> {
  const caller = services.accounts.callerOf(rule.tokenId);
  if (caller === undefined) throw new Failure('Restricted');
  const name = rule.body.output.members['dataset'] ?? '';
  const { dataset: id, workspace } = placeOf(name, caller, services);
  await makeOnce(id, workspace, caller, services);
  const bytes = Buffer.from(JSON.stringify(recordOf(rule, alert)));
  const call = callOf(caller);
  const stream = Readable.from([bytes]);
  const path = { workspace, id };
  await writeRecords({ ...call, path, stream, contentLength: bytes.length }, services);
}

const recordOf = (rule: Rule, alert: Alert): object => ({
  // An index has no empty key.
  symbol: alert.symbol === '' ? (rule.body.index[0] ?? rule.id) : alert.symbol,
  alertId: alert.alert_id,
  time: new Date(alert.time_ms).toISOString(),
  ruleId: rule.id,
  ruleName: rule.name,
  data: JSON.parse(alert.values_json) as unknown,
});

async function makeOnce(
  id: string,
  workspace: string,
  caller: Caller,
  services: AlertRecordServices,
): Promise<void> {
  const { ingestion, lake } = services;
  const known = (): Dataset | undefined => lake.directory.dataset(workspace, id);
  const owned = changeableIn(caller, workspace, id, 'write', lake);
  const found = known();
  if (found !== undefined) {
    if (!hasIndex(found)) throw notOfAlerts(id);
    return;
  }
  checkDatasetRoom(caller, owned, id, services);
  const draft = draftOf(owned.workspace, id, { dataset: BODY }, ingestion.defaultsOf);
  try {
    await makeDataset(lake, draft, caller.accountId);
  } catch (error) {
    // Another alert was first.
    if (known() === undefined) throw error;
  }
}
