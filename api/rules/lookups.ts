// Lists the values that a lookup value may be compared with (SPEC.md "Rules schema object").
import { lookupTable } from '../../store/base/lookupTable.ts';
import { ruleValue } from '../../market/rules/ruleValues.ts';
import { runSeries } from '../../query/series/series.ts';
import { Failure } from '../../store/base/failure.ts';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { findDataset, requireManager } from '../../reads/rights/access.ts';
import { readDataset } from '../../reads/series/series.ts';
import type { Call } from '../request/endpoint.ts';
import { backgroundRequest } from '../../reads/rights/backgroundRequest.ts';
import type { RuleServices } from '../../jobs/rules/ruleReaders.ts';

/** The property of CORE's companies behind a value. */
const PROPERTIES = lookupTable<string>({
  primaryExchange: 'exchange',
  sector: 'sector',
});
/** Maximum companies to inspect, and entries to return. */
const COMPANIES_MAX = 20_000;
const ENTRIES_MAX = 1_000;

interface Entry {
  readonly value: string;
  readonly label: string;
  readonly type: string;
  readonly formula: string;
  readonly scope: string;
}

/** @throws Failure NotFound for a value without a list. */
export async function answerLookup(
  name: string,
  call: Call,
  services: RuleServices,
): Promise<readonly Entry[]> {
  const caller = requireManager(call.caller);
  const value = ruleValue(name);
  const property = PROPERTIES[name];
  if (value?.isLookup !== true || property === undefined) throw new Failure('NotFound');
  const { lake } = services;
  if (lake.directory.dataset(CORE, 'COMPANY') === undefined) return [];
  const dataset = findDataset(caller, CORE, 'COMPANY', lake);
  const ownCall = backgroundRequest(caller);
  const own = { filter: [property], last: COMPANIES_MAX };
  const options = { own, rowsMax: COMPANIES_MAX };
  const { plan } = await readDataset(ownCall, services, dataset, 'data', options);
  const { bytes } = await runSeries(plan, 'json', services.series, ownCall);
  const rows = JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly Record<
    string,
    unknown
  >[];
  const texts = rows.flatMap((row) => {
    const text = row[property];
    return typeof text === 'string' && text !== '' ? [text] : [];
  });
  return [...new Set(texts)]
    .sort()
    .slice(0, ENTRIES_MAX)
    .map((text) => ({
      value: text,
      label: text,
      type: value.kind,
      scope: 'lookup',
      formula: `${name} == ${JSON.stringify(text)}`,
    }));
}
