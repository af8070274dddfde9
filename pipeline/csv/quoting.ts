// Detects other quote characters than the usual ones by parsing the first lines.
import { QUOTES, type Reading } from '../bytes/reading.ts';
import type { Ambiguity } from './ambiguities.ts';
import type { Dialect } from './lines/records.ts';
import { sampleRecords } from './sample.ts';
import { commonWidth } from './shape.ts';

/** Characters and records that are parsed. */
const TRIED_CHARACTERS = 64 * 1024;
const TRIED_RECORDS = 500;

const UNLESS = 'if they are not';

/** The hint if lines do not fit with double quotes, and all fit with another quoting. */
export async function findQuoting(
  text: string,
  dialect: Dialect,
  { escape, quote }: Reading,
): Promise<Ambiguity | undefined> {
  if (quote !== undefined && escape !== undefined) return undefined;
  const tried = text.slice(0, TRIED_CHARACTERS);
  const single = quote === undefined && tried.includes(QUOTES.single);
  const backslash =
    escape === undefined && dialect.quote !== '' && tried.includes(`\\${dialect.quote}`);
  if (!single && !backslash) return undefined;
  const isCut = tried.length < text.length;
  const faults = async (
    own: Dialect,
  ): Promise<{ readonly count: number; readonly width: number }> => {
    const sampling = { dialect: own, line: 1, comment: '#', most: TRIED_RECORDS, isCut };
    const read = await sampleRecords(tried, sampling);
    const records = (isCut ? read.slice(0, -1) : read).filter(
      ({ cells, comment, fault }) =>
        comment === undefined && (cells.length > 0 || fault !== undefined),
    );
    const { width } = commonWidth(records.map(({ cells }) => cells));
    const count = records.filter(
      ({ cells, fault }) => fault !== undefined || cells.length !== width,
    ).length;
    return { count, width };
  };
  const now = await faults(dialect);
  if (now.count === 0) return undefined;
  if (backslash) {
    const { count, width } = await faults({ ...dialect, escape: '\\' });
    if (count === 0 && width > 1) {
      const why = 'quotes inside quotes are written with a backslash';
      return {
        why,
        add: { escape: 'backslash' },
        otherwise: { add: { escape: 'double' }, when: UNLESS },
      };
    }
  }
  if (!single) return undefined;
  const own = { ...dialect, quote: QUOTES.single, escape: QUOTES.single };
  const { count, width } = await faults(own);
  if (count > 0 || width < 2) return undefined;
  const why = 'cells are written in single quotes';
  return {
    why,
    add: { quote: 'single' },
    otherwise: { add: { quote: 'double' }, when: UNLESS },
  };
}
