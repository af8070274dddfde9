// Counts what became of the records of a write. The counts add up: received = stored + replaced +
// duplicates + rejected + quarantined.
import { redacted } from '../../store/base/redact.ts';

/** The counts of a load, as its job or its outcome has them. */
interface Counted {
  readonly validated: number;
  readonly ingested: number;
  readonly invalid: number;
  readonly quarantined: number;
  /** With those that replaced stored records, and the unchanged ones. */
  readonly duplicates: number;
  readonly replaced: number;
  readonly unchanged: number;
  readonly columnsLeftOut: readonly string[];
  readonly notes: readonly string[];
}

export interface LoadCounts {
  readonly received: number;
  readonly stored: number;
  readonly replaced: number;
  readonly duplicates: number;
  /** Equal in full to stored records; among the duplicates. */
  readonly unchanged: number;
  readonly rejected: number;
  readonly quarantined: number;
  readonly columnsLeftOut: readonly string[];
  readonly inferred: readonly string[];
  readonly warnings: readonly string[];
}

const INFERRED = /^(?:inferred index|properties): /;
const WARNING = 'warning: ';

export function toLoadCounts(counted: Counted): LoadCounts {
  const { columnsLeftOut, duplicates, ingested, invalid, quarantined, replaced } = counted;
  const { unchanged, validated } = counted;
  const notes = counted.notes.map(redacted);
  return {
    received: validated + invalid + quarantined,
    stored: ingested - replaced,
    replaced,
    duplicates: duplicates - replaced,
    unchanged,
    rejected: invalid,
    quarantined,
    columnsLeftOut,
    inferred: notes.filter((note) => INFERRED.test(note)),
    warnings: notes
      .filter((note) => note.startsWith(WARNING))
      .map((note) => note.slice(WARNING.length)),
  };
}
