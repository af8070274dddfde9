// Pulls from a dataset of this server, or from a SELECT over datasets and views. It is read in full with
// the owner's rights, and not again while none of them has changed.
import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type DatasetDefinition,
  type Pull,
  SourceFailure,
} from '../../../pipeline/sources/base/source.ts';
import { datasetsOf } from '../../../query/sql/plan/boundTable.ts';
import { type BoundPlan, runSql } from '../../../query/sql/run/run.ts';
import { checkName } from '../../../store/lake/versions/columns.ts';
import { Failure } from '../../../store/base/failure.ts';
import { newUuid } from '../../../store/base/random.ts';
import { withAccountSql } from '../../auth/accountServices.ts';
import { ownerCaller } from '../../../reads/rights/backgroundRequest.ts';
import type { Services } from '../../request/endpoint.ts';
import { bindQuery, type BindServices, buildLimits, buildTag } from '../../../reads/sql/sql.ts';
import type { Caller } from '../../../store/accounts/callers.ts';

type DatasetPullServices = BindServices & Pick<Services, 'accounts'>;

/** Records of one pull: the limit of one ingestion (INTERFACE.md 3.8). */
const ROWS_MAX = 20_000_000;

export const datasetPull = (services: DatasetPullServices): Pull<DatasetDefinition> =>
  async function* ({ definition, landing, owner, since }) {
    const accountServices = withAccountSql(services, owner.accountId);
    const caller = findOwner(owner.accountId, accountServices);
    const text = buildQuery(definition, owner.workspace);
    const sqlRequest = { workspace: owner.workspace, text, parameters: {} };
    const sqlCall = { caller, query: {}, departure: () => landing.signal };
    const bound = await bindQuery(sqlCall, accountServices, sqlRequest);
    refuseForeign(
      bound,
      owner.accountId,
      accountServices,
      'a source reads datasets of its own account',
    );
    const version = buildTag(bound, 'parquet', sqlRequest) ?? null;
    if (version !== null && since?.['version'] === version) return;
    const accountLimits = buildLimits(caller, accountServices.settings);
    const limits = { ...accountLimits, rowsMax: ROWS_MAX, spillBytes: landing.bytesMax };
    const body = await runSql(bound, 'parquet', accountServices.sql, limits, sqlCall, 'always');
    if (body.objects >= ROWS_MAX) {
      throw new SourceFailure(`the query has over ${ROWS_MAX} rows, the most of a load`, false);
    }
    if (body.file === undefined) throw new Failure('SystemError', 'a query left no file');
    const path = join(landing.folder, newUuid());
    await rename(body.file.path, path);
    const { size } = await stat(path);
    landing.onBytes(size, size);
    const name = definition.dataset ?? 'query';
    yield { name, path, bytes: size, position: { version } };
  };

/** The account that a background job reads for, as a caller. @throws SourceFailure */
export function findOwner(accountId: string, { accounts }: Pick<Services, 'accounts'>): Caller {
  const account = accounts.account(accountId);
  if (account === undefined) throw new SourceFailure('the account is not there', false);
  return ownerCaller(account, accountId);
}

/** The SELECT of a source. @throws Failure InvalidBody for an invalid name. */
function buildQuery({ dataset, query }: DatasetDefinition, workspace: string): string {
  if (query !== undefined) return query;
  const [last = '', place = workspace] = (dataset ?? '').split('.').reverse();
  checkName('dataset', last);
  checkName('dataset', place);
  return `SELECT * FROM \`${place}\`.\`${last}\``;
}

/** Refuses datasets of other accounts: reading them is charged, which a background job must not do. */
export function refuseForeign(
  { tables }: BoundPlan,
  accountId: string,
  { lake }: Pick<Services, 'lake'>,
  reason: string,
): void {
  const foreign = datasetsOf(tables).find(
    ({ dataset }) => lake.directory.workspace(dataset.workspace)?.accountId !== accountId,
  );
  if (foreign === undefined) return;
  const { dataset, workspace } = foreign.dataset;
  throw new SourceFailure(foreignSentence(`${workspace}.${dataset}`, reason), false);
}

export const foreignSentence = (dataset: string, reason: string): string =>
  `${dataset} is not of this account: ${reason}`;
