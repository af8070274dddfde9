// Spells texts that are symbols, in SQL, when they are loaded.
import {
  CASED_SPELLINGS,
  VARIANT_MARKERS,
  SPELLINGS,
} from '../../store/lake/datasets/symbolSpelling.ts';
import { literal } from '../../store/duckdb/sqlText.ts';

/** The symbol of a text as an SQL expression, equivalent to `keptSymbol` of the store. */
export function symbolExpression(text: string): string {
  const bare = `trim(${text})`;
  const cased = CASED_SPELLINGS.reduce(rewrite, bare);
  const spelled = SPELLINGS.reduce(rewrite, `upper(${cased})`);
  // Patterns cost ten times as much as searching for a sign, and most symbols have none.
  const signs = VARIANT_MARKERS.map((sign) => `contains(${bare}, ${literal(sign)})`);
  return `CASE WHEN ${signs.join(' OR ')} THEN ${spelled} ELSE upper(${bare}) END`;
}

const rewrite = (text: string, { becomes, pattern }: (typeof SPELLINGS)[number]): string =>
  `regexp_replace(${text}, ${literal(pattern.source)}, ${literal(becomes.replaceAll('$', '\\'))})`;
