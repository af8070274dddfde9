// Stores alerts as records of a dataset of the rule's owner, each once, and checks the dataset beforehand.
import { Readable } from 'node:stream';
import { parseNamedFact } from '../../jobs/rules/runningRule.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure } from '../../store/base/failure.ts';
import type { ColumnMapping, Dataset } from '../../store/lake/datasets/datasets.ts';
import { createDataset as makeDataset, dropDataset } from '../../store/lake/datasetEdits.ts';
import type { Alert } from '../../store/work/alerts.ts';
import type { Rule, RuleBody } from '../../store/work/rules.ts';
import { checkName } from '../../store/lake/versions/columns.ts';
import {
  findWritableWorkspace,
  checkDatasetRoom,
  ownWorkspaces,
} from '../../reads/rights/access.ts';
import { buildDraft } from '../datasets/datasetBody.ts';
import { type RecordServices, storeRecords } from '../datasets/ingest/recordWriting.ts';
import type { Services } from '../request/endpoint.ts';
import { backgroundRequest } from '../../reads/rights/backgroundRequest.ts';

/** The alert's id is in the index: an alert that is stored twice is one record. */
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

/** Parses `ID` in the account's first workspace, or `WORKSPACE.ID`. @throws Failure InvalidBody. */
function parsePlace(name: string, caller: Caller, { lake }: Pick<Services, 'lake'>): Place {
  const dot = name.indexOf('.');
  const [first] = ownWorkspaces(caller, lake);
  const workspace = dot < 0 ? (first?.workspace ?? '') : name.slice(0, dot);
  const dataset = name.slice(dot + 1);
  checkName('outputs[0].dataset', dataset);
  return { workspace, dataset };
}

/** A rule's body with the full name of its dataset, and a function that undoes its creation. */
interface PlacedOutput {
  readonly body: RuleBody;
  readonly undo: () => Promise<void>;
}

const NOTHING_TO_UNDO = (): Promise<void> => Promise.resolve();

/**
 * Creates the dataset of a rule's output with the rule; a dataset that is deleted later is not created again.
 * @param others rules of the account, without this one
 * @throws Failure NotFound, Restricted of the token; InvalidParameter for a dataset with another index, or a
 * cycle.
 */
export async function createOutputDataset(
  requestedBody: RuleBody,
  others: readonly Rule[],
  caller: Caller,
  services: Pick<Services, 'ingestion' | 'lake' | 'queries'>,
): Promise<PlacedOutput> {
  const name = requestedBody.output.members['dataset'];
  if (name === undefined) return { body: requestedBody, undo: NOTHING_TO_UNDO };
  const { ingestion, lake } = services;
  const { dataset: id, workspace: requestedWorkspace } = parsePlace(name, caller, services);
  const owned = findWritableWorkspace(caller, requestedWorkspace, id, 'write', lake);
  const { workspace } = owned;
  const existing = lake.directory.dataset(workspace, id);
  // The full name, because the account's first workspace may change.
  const dataset = `${workspace}.${existing?.dataset ?? id}`;
  const output = { ...requestedBody.output, members: { ...requestedBody.output.members, dataset } };
  const body = { ...requestedBody, output };
  refuseCycles(body, others);
  if (existing !== undefined) {
    if (!hasIndex(existing)) throw indexFailure(id);
    return { body, undo: NOTHING_TO_UNDO };
  }
  checkDatasetRoom(caller, owned, id, services);
  const draft = buildDraft(workspace, id, { dataset: BODY }, ingestion.defaultsOf);
  const created = await makeDataset(lake, draft, caller.accountId);
  return {
    body,
    undo: async () => {
      await dropDataset(lake, created, caller.accountId, false, async () => undefined);
    },
  };
}

/** Whether a dataset has the index of alerts; a dataset that may contain duplicates is refused too. */
const hasIndex = ({ mapping, numbered }: Dataset): boolean =>
  !numbered &&
  mapping.key === INDEX.key &&
  mapping.subkey === INDEX.subkey &&
  mapping.date === INDEX.date;

const indexFailure = (dataset: string): Failure =>
  new Failure(
    'InvalidParameter',
    `outputs[0].dataset ${dataset} has another unique index than alerts: symbol, alertId, time`,
  );

/** Refuses a rule that triggers itself through its output dataset, directly or through other rules. */
function refuseCycles(body: RuleBody, others: readonly Rule[]): void {
  const writes = ({ output }: RuleBody): string | undefined =>
    output.members['dataset']?.toUpperCase();
  const own = writes(body);
  const reached = new Set<string>();
  const pendingNames = own === undefined ? [] : [own];
  for (let next = pendingNames.pop(); next !== undefined; next = pendingNames.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    if (listReadDatasets(body).has(next)) {
      const reason = `outputs[0].dataset ${next} is read by this rule, or leads to what it reads`;
      throw new Failure('InvalidParameter', `${reason}: it would fire for ever`);
    }
    for (const rule of others) {
      const place = listReadDatasets(rule.body).has(next) ? writes(rule.body) : undefined;
      if (place !== undefined) pendingNames.push(place);
    }
  }
}

/** Lists the datasets that a rule reads, by path. */
function listReadDatasets({
  additionalIndex,
  additionalKeys,
  conditions,
  index,
}: RuleBody): Set<string> {
  const texts = [...conditions.flat(), ...index, ...additionalIndex, ...additionalKeys];
  const names = texts.filter((text): text is string => typeof text === 'string');
  const paths = new Set<string>();
  for (const name of names.filter((one) => one.split(':').length > 3)) {
    const fact = parseNamedFact(name);
    if (fact !== undefined) paths.add(`${fact.workspace}.${fact.namespace}`.toUpperCase());
  }
  return paths;
}

export type AlertRecordServices = RecordServices & Pick<Services, 'accounts'>;

/** Stores an alert. @throws Failure if the rule's token has lost its rights, or for an invalid record. */
export async function saveAlert(
  rule: Rule,
  alert: Alert,
  services: AlertRecordServices,
): Promise<void> {
  const { accounts, lake } = services;
  const caller = accounts.callerById(rule.tokenId);
  const name = rule.body.output.members['dataset'] ?? '';
  const { dataset: id, workspace } = parsePlace(name, caller, services);
  const dataset = lake.directory.dataset(workspace, id);
  if (dataset === undefined)
    throw new Failure('InvalidParameter', `${name} does not exist any more`);
  if (!hasIndex(dataset)) throw indexFailure(id);
  const bytes = Buffer.from(JSON.stringify(toRecord(rule, alert)));
  const call = backgroundRequest(caller);
  const stream = Readable.from([bytes]);
  const path = { workspace, id };
  const query = { createDatasetOnDemand: false };
  const body = { stream, contentLength: bytes.length, checkBody: undefined, idempotencyKey: '' };
  const writeCall = { ...call, path, query, ...body };
  const { quarantined } = await storeRecords(writeCall, services);
  if (quarantined > 0) throw new Failure('InvalidParameter', 'it is in quarantine');
}

const toRecord = (rule: Rule, alert: Alert): object => ({
  // An index has no empty key.
  symbol: alert.symbol === '' ? (rule.body.index[0] ?? rule.id) : alert.symbol,
  alertId: alert.alert_id,
  time: new Date(alert.time_ms).toISOString(),
  ruleId: rule.id,
  ruleName: rule.name,
  data: JSON.parse(alert.values_json) as unknown,
});
