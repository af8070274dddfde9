// Selects the format of an answer.
import { type BodyFormat } from '../../store/duckdb/protocol.ts';
import { refuse, textOf } from '../request/parameters.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import { escapedFormat, stringsFormat } from '../request/spelling.ts';
import { CHART_FORMATS } from './charts.ts';
import { exclusionRule } from '../../store/base/valueRules.ts';

/** Refuses `callback` with a binary format. @throws Failure InvalidParameter. */
export function refuseCallback({ query }: Pick<ReadRequest, 'query'>, format: BodyFormat): void {
  if (query['callback'] !== undefined) refuse('callback', exclusionRule(`format ${format}`));
}

const FORMATS: readonly BodyFormat[] = ['json', 'jsonl', 'csv', 'psv', 'arrow', 'parquet'];

/** Selects the format: `format`, else the Accept header (INTERFACE.md 3.5), else JSON. */
export const selectFormat = (
  call: Pick<ReadRequest, 'query' | 'accept' | 'navigates'>,
): BodyFormat =>
  stringsFormat(escapedFormat(requestedFormat(call), call.query, call.navigates), call.query);

function requestedFormat({ query, accept }: Pick<ReadRequest, 'query' | 'accept'>): BodyFormat {
  const format = textOf(query, 'format');
  if (format === 'text') return 'csv';
  if (CHART_FORMATS.some((picture) => picture === format)) return 'json';
  const listedFormat = FORMATS.find((item) => item === format);
  if (listedFormat !== undefined) return listedFormat;
  if (accept.includes('application/x-ndjson')) return 'jsonl';
  if (accept.includes('application/vnd.apache.arrow.stream')) return 'arrow';
  if (accept.includes('application/vnd.apache.parquet')) return 'parquet';
  return accept.includes('text/csv') && !accept.includes('application/json') ? 'csv' : 'json';
}
