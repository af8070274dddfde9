// A source that is a dataset of this server, or a SELECT over datasets and views: read as its owner,
// whole, and not again while none of them has changed.
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
import { withSqlOf } from '../../auth/accountServices.ts';
import { ownerOf } from '../../auth/standingCall.ts';
import type { Services } from '../../request/endpoint.ts';
import { bindQuery, type BindServices, limitsOf, tagOf } from '../../sql/sql.ts';

type DatasetPullServices = BindServices & Pick<Services, 'accounts'>;

/** Records of one pull: as many as one ingestion takes (INTERFACE.md 3.8). */
const ROWS_MAX = 20_000_000;

export const datasetPull = (services: DatasetPullServices): Pull<DatasetDefinition> =>
  async function* ({ definition, landing, owner, since }) {
    const all = withSqlOf(services, owner.accountId);
    const account = all.accounts.account(owner.accountId);
    if (account === undefined) throw new SourceFailure('the account is not there', false);
    const caller = ownerOf(account, owner.accountId);
    const text = textOf(definition, owner.workspace);
    const question = { workspace: owner.workspace, text, parameters: {} };
    const asking = { caller, query: {}, departure: () => landing.signal };
    const bound = await bindQuery(asking, all, question);
    refuseForeign(bound, owner.accountId, all, 'a source reads datasets of its own account');
    const version = tagOf(bound, 'parquet', question) ?? null;
    if (version !== null && since?.['version'] === version) return;
    const allowed = limitsOf(caller, all.settings);
    const limits = { ...allowed, rowsMax: ROWS_MAX, spillBytes: landing.bytesMax };
    const body = await runSql(bound, 'parquet', all.sql, limits, asking, 'always');
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

/** @throws Failure InvalidBody for a name that is none. */
function textOf({ dataset, query }: DatasetDefinition, workspace: string): string {
  if (query !== undefined) return query;
  const [last = '', place = workspace] = (dataset ?? '').split('.').reverse();
  checkName('dataset', last);
  checkName('dataset', place);
  return `SELECT * FROM \`${place}\`.\`${last}\``;
}

/** What is another's is charged for when it is read: not by a job that nobody asks for. */
export function refuseForeign(
  { tables }: BoundPlan,
  accountId: string,
  { lake }: Pick<Services, 'lake'>,
  own: string,
): void {
  const foreign = datasetsOf(tables).find(
    ({ dataset }) => lake.directory.workspace(dataset.workspace)?.accountId !== accountId,
  );
  if (foreign === undefined) return;
  const { dataset, workspace } = foreign.dataset;
  const rule = `is not of this account: ${own}`;
  throw new SourceFailure(`${workspace}.${dataset} ${rule}`, false);
}
