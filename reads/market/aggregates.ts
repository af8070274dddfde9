// Aggregates a whole input of CORE with SQL, under the rights of the caller.
import type { Row } from '../../market/derive/values.ts';
import type { InputId } from '../../market/inputs/inputRow.ts';
import { inputOf } from '../../market/inputs/inputs.ts';
import { runSql } from '../../query/sql/run/run.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import { findDataset } from '../rights/access.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { ReadServices } from '../request/readServices.ts';
import { bindQuery, buildLimits } from '../sql/sql.ts';
import type { MarketServices } from './inputReads.ts';

export type AggregateServices = MarketServices & Pick<ReadServices, 'database' | 'queries' | 'sql'>;

/** Maximum rows of one aggregate. */
const ROWS_MAX = 200_000;

/** Quotes a property in the owner's spelling, NULL if it does not exist; for an input, its dataset. */
type Spell = (name: string) => string;

/** Runs an aggregate; no rows if the input does not exist. @throws Failure if the caller may not read it. */
export async function aggregateInput(
  call: ReadRequest,
  services: AggregateServices,
  input: InputId,
  question: (spell: Spell) => string,
): Promise<readonly Row[]> {
  if (services.lake.directory.dataset(CORE, input) === undefined) return [];
  const dataset = findDataset(call.caller, CORE, input, services.lake);
  const text = question(buildSpell(dataset, input));
  const { asOf } = call.query;
  const bare = { ...call, query: asOf === undefined ? {} : { asOf } };
  const sqlQuery = { workspace: CORE, text, parameters: {} };
  const bound = await bindQuery(bare, services, sqlQuery);
  const limits = {
    ...buildLimits(call.caller, services.settings),
    rowsMax: ROWS_MAX,
  };
  const { bytes } = await runSql(bound, 'json', services.sql, limits, call, 'never');
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly Row[];
}

function buildSpell({ dataset, mapping, schema }: Dataset, input: InputId): Spell {
  const names = new Map(Object.keys(schema.properties).map((name) => [name.toLowerCase(), name]));
  const index = inputOf(input)?.mapping;
  for (const part of ['key', 'subkey', 'date'] as const) {
    const [theirs, own] = [mapping[part], index?.[part]];
    if (theirs !== undefined && own !== undefined) names.set(own.toLowerCase(), theirs);
  }
  return (name) => {
    const own = name === input ? dataset : names.get(name.toLowerCase());
    return own === undefined ? 'NULL' : quoteName(own);
  };
}

const quoteName = (name: string): string => `\`${name.replaceAll('`', '``')}\``;
