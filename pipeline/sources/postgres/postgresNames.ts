// Checks requests to PostgreSQL. Separate from `postgres.ts`, whose client is imported with the first source.
import { type PostgresDefinition, SourceFailure } from '../base/source.ts';

const QUERY_CHARACTERS_MAX = 100_000;
/** PostgreSQL's own limit is 63 for each part. */
const NAME_CHARACTERS_MAX = 300;

/** @throws SourceFailure naming the member and its rule. */
export function checkPostgres({ incrementalColumn, query, table }: PostgresDefinition): void {
  if ((table === undefined) === (query === undefined))
    refuse('either "table" or "query" is needed');
  for (const [member, text] of Object.entries({ incrementalColumn, table })) {
    if (text === undefined) continue;
    if (text === '' || text.length > NAME_CHARACTERS_MAX || text.includes('\0')) {
      refuse(`"${member}" has 1 to ${NAME_CHARACTERS_MAX} characters`);
    }
  }
  if (query === undefined) return;
  if (query.length > QUERY_CHARACTERS_MAX || query.includes('\0')) {
    refuse(`"query" has at most ${QUERY_CHARACTERS_MAX} characters`);
  }
  // Checks only the first word: that it is one read-only statement is enforced by the server.
  if (!READS.test(query.slice(firstWordAt(query)))) {
    refuse('"query" must be one SELECT');
  }
}

const READS = /^(?:SELECT|VALUES|WITH|TABLE)\b/i;

/** The position of the first word, after spaces, parentheses and comments; each is read once. */
function firstWordAt(query: string): number {
  let at = 0;
  for (;;) {
    const closing = query.startsWith('--', at) ? '\n' : query.startsWith('/*', at) ? '*/' : '';
    if (closing === '') {
      if (!/^[\s(]$/.test(query.charAt(at))) return at;
      at += 1;
      continue;
    }
    const end = query.indexOf(closing, at + 2);
    if (end < 0) return query.length;
    at = end + closing.length;
  }
}

function refuse(reason: string): never {
  throw new SourceFailure(reason, false);
}
