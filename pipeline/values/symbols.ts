// Texts that are symbols, as DuckDB spells them when they are loaded.
import {
  CASED_SPELLINGS,
  SIGNS_OF_OTHERS,
  SPELLINGS,
} from '../../store/lake/datasets/symbolSpelling.ts';
import { literal } from '../../store/duckdb/sqlText.ts';

/** An expression of the symbol that a text is, as `keptSymbol` of the store has it. */
export function symbolOf(text: string): string {
  const bare = `trim(${text})`;
  const cased = CASED_SPELLINGS.reduce(rewritten, bare);
  const spelled = SPELLINGS.reduce(rewritten, `upper(${cased})`);
  // Patterns cost ten times what looking for a sign does, and most symbols have none.
  const signs = SIGNS_OF_OTHERS.map((sign) => `contains(${bare}, ${literal(sign)})`);
  return `CASE WHEN ${signs.join(' OR ')} THEN ${spelled} ELSE upper(${bare}) END`;
}

const rewritten = (text: string, { becomes, pattern }: (typeof SPELLINGS)[number]): string =>
  `regexp_replace(${text}, ${literal(pattern.source)}, ${literal(becomes.replaceAll('$', '\\'))})`;
