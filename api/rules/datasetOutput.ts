// Alerts as records of a dataset of the rule's owner: what is checked before, and how each is stored, once.
import { Readable } from 'node:stream';
import { namedFact } from '../../jobs/rules/runningRule.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure } from '../../store/base/failure.ts';
import type { ColumnMapping, Dataset } from '../../store/lake/datasets/datasets.ts';
import { createDataset as makeDataset, dropDataset } from '../../store/lake/datasetEdits.ts';
import type { Alert } from '../../store/work/alerts.ts';
import type { Rule, RuleBody } from '../../store/work/rules.ts';
import { checkName } from '../../store/lake/versions/columns.ts';
import { changeableIn, checkDatasetRoom, ownWorkspaces } from '../auth/access.ts';
import { draftOf } from '../datasets/datasetBody.ts';
import { type RecordServices, storeRecords } from '../datasets/ingest/recordWriting.ts';
import type { Services } from '../request/endpoint.ts';
import { callOf } from '../auth/standingCall.ts';

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

/** A rule's body whose dataset is named whole, and made; what a failure must undo. */
interface Placed {
  readonly body: RuleBody;
  readonly undo: () => Promise<void>;
}

const NOTHING_TO_UNDO = (): Promise<void> => Promise.resolve();

/**
 * Its dataset is made when the rule is: one that is deleted later stays away.
 * @param others rules of the account, without this one
 * @throws Failure NotFound, Restricted of the token; InvalidParameter of a dataset with another index, or a
 * circle.
 */
export async function placedOutput(
  given: RuleBody,
  others: readonly Rule[],
  caller: Caller,
  services: Pick<Services, 'ingestion' | 'lake' | 'queries'>,
): Promise<Placed> {
  const name = given.output.members['dataset'];
  if (name === undefined) return { body: given, undo: NOTHING_TO_UNDO };
  const { ingestion, lake } = services;
  const { dataset: id, workspace: asked } = placeOf(name, caller, services);
  const owned = changeableIn(caller, asked, id, 'write', lake);
  const { workspace } = owned;
  const known = lake.directory.dataset(workspace, id);
  // By its whole name: the account's first workspace may be another one later.
  const dataset = `${workspace}.${known?.dataset ?? id}`;
  const output = { ...given.output, members: { ...given.output.members, dataset } };
  const body = { ...given, output };
  refuseCircles(body, others);
  if (known !== undefined) {
    if (!hasIndex(known)) throw notOfAlerts(id);
    return { body, undo: NOTHING_TO_UNDO };
  }
  checkDatasetRoom(caller, owned, id, services);
  const draft = draftOf(workspace, id, { dataset: BODY }, ingestion.defaultsOf);
  const made = await makeDataset(lake, draft, caller.accountId);
  return {
    body,
    undo: async () => {
      await dropDataset(lake, made, caller.accountId, false, async () => undefined);
    },
  };
}

/** Also one that may have a record twice is no place for alerts. */
const hasIndex = ({ mapping, numbered }: Dataset): boolean =>
  !numbered &&
  mapping.key === INDEX.key &&
  mapping.subkey === INDEX.subkey &&
  mapping.date === INDEX.date;

const notOfAlerts = (dataset: string): Failure =>
  new Failure(
    'InvalidParameter',
    `outputs[0].dataset ${dataset} has another unique index than alerts: symbol, alertId, time`,
  );

/** A rule that wakes itself would fire for ever: by what it writes, or by what others write of that. */
function refuseCircles(body: RuleBody, others: readonly Rule[]): void {
  const writes = ({ output }: RuleBody): string | undefined =>
    output.members['dataset']?.toUpperCase();
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
  const { accounts, lake } = services;
  const caller = accounts.callerOf(rule.tokenId);
  const name = rule.body.output.members['dataset'] ?? '';
  const { dataset: id, workspace } = placeOf(name, caller, services);
  const found = lake.directory.dataset(workspace, id);
  if (found === undefined) throw new Failure('InvalidParameter', `${name} is not there any more`);
  if (!hasIndex(found)) throw notOfAlerts(id);
  const bytes = Buffer.from(JSON.stringify(recordOf(rule, alert)));
  const call = callOf(caller);
  const stream = Readable.from([bytes]);
  const path = { workspace, id };
  const query = { createDatasetOnDemand: false };
  const asked = { ...call, path, query, stream, contentLength: bytes.length };
  const { quarantined } = await storeRecords(asked, services);
  if (quarantined > 0) throw new Failure('InvalidParameter', 'it is in quarantine');
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
