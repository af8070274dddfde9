// Completes SQL functions and the columns of all tables. Keywords and tables are completed by CodeMirror.
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { AGGREGATES } from '../../../query/sql/functions/aggregates.ts';
import { DATE_FUNCTIONS } from '../../../query/sql/functions/dateFunctions.ts';
import { JSON_FUNCTIONS } from '../../../query/sql/functions/jsonFunctions.ts';
import { LIST_FUNCTIONS } from '../../../query/sql/functions/listFunctions.ts';
import { NUMBER_FUNCTIONS } from '../../../query/sql/functions/numberFunctions.ts';
import { TEXT_FUNCTIONS } from '../../../query/sql/functions/textFunctions.ts';
import { STATISTICS } from '../../../query/sql/functions/statistics.ts';
import { WINDOW_FUNCTIONS } from '../../../query/sql/functions/windowFunctions.ts';
import { type Dataset, typeText } from '../../api/answers.ts';

const FUNCTIONS: readonly Completion[] = [
  NUMBER_FUNCTIONS,
  TEXT_FUNCTIONS,
  DATE_FUNCTIONS,
  JSON_FUNCTIONS,
  LIST_FUNCTIONS,
  AGGREGATES,
  STATISTICS,
  WINDOW_FUNCTIONS,
].flatMap((rows) =>
  rows.map(({ does, signature }) => ({
    label: signature.split('(')[0] ?? signature,
    detail: signature.slice(signature.indexOf('(')),
    info: does,
    type: 'function',
    boost: -1,
  })),
);

const WORD = /\w+/;
/** Maximum number of columns suggested; the others are completed after a table's name and a dot. */
const COLUMNS_MAX = 2_000;

export function completeFunctions(
  tables: readonly Dataset[],
): (context: CompletionContext) => CompletionResult | null {
  const columns = new Map<string, Completion>();
  for (const { datasetId, schema } of tables) {
    for (const [name, property] of Object.entries(schema.properties)) {
      if (columns.size >= COLUMNS_MAX || columns.has(name)) continue;
      const detail = `${typeText(property)} of ${datasetId}`;
      columns.set(name, { label: name, type: 'property', detail });
    }
  }
  const options = [...columns.values(), ...FUNCTIONS];
  return (context) => {
    const word = context.matchBefore(WORD);
    if (word === null || (word.from === word.to && !context.explicit)) return null;
    return { from: word.from, options, validFor: WORD };
  };
}
