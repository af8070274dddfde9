// Declares the query parameters of every SQL answer: output format, moment, maximum price.
import { CSV_FORMULAS, JSON_DECIMALS } from '../request/spelling.ts';
import { METERING_PARAMETERS } from '../answer/metering.ts';
import { CHART_PARAMETERS, CHART_FORMATS } from '../answer/charts.ts';
import type { Parameter } from '../request/parameters.ts';

const switched = (name: string, help: string): Parameter => ({ kind: 'boolean', name, help });

export const SQL_PARAMETERS: readonly Parameter[] = [
  {
    kind: 'choice',
    name: 'format',
    choices: ['json', 'jsonl', 'csv', 'psv', 'text', 'arrow', 'parquet', ...CHART_FORMATS],
    help:
      'Format of the answer; else the Accept header, else json. svg, png and vega-lite are a chart of ' +
      'it.',
  },
  CSV_FORMULAS,
  JSON_DECIMALS,
  switched('schema', 'Return only the columns of the answer, names and types; nothing is read.'),
  switched('explain', 'Return only the plan: steps, files, and the highest possible cost.'),
  switched(
    'includeSystemRecordProperties',
    'Each table has a column _systemRecordProperties: id, key, subkey, date, updated.',
  ),
  {
    kind: 'text',
    name: 'asOf',
    help: 'Read the data as of a moment: a value of svccloud-as-of, a date or time, or a snapshot id.',
  },
  {
    kind: 'text',
    name: 'callback',
    pattern: /^[A-Za-z_$][\w$.]{0,127}$/,
    rule: 'must be the name of a JavaScript function',
    help: 'JSONP: the answer calls this function.',
  },
  ...CHART_PARAMETERS,
  ...METERING_PARAMETERS,
];

/** Reserved names that parameters of a published query can not have. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set([
  ...SQL_PARAMETERS.map(({ name }) => name),
  'token',
  '_',
]);
