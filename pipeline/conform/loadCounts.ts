// Counts the outcomes of the records of a write. The counts add up: received = stored + replaced +
// duplicates + rejected + quarantined.
import { redactText } from '../../store/base/redact.ts';
import type { Ingested } from './load.ts';

export interface LoadCounts {
  readonly received: number;
  readonly stored: number;
  readonly replaced: number;
  readonly duplicates: number;
  /** Equal in full to stored records; included in the duplicates. */
  readonly unchanged: number;
  readonly rejected: number;
  readonly quarantined: number;
  readonly columnsLeftOut: readonly string[];
  readonly inferred: readonly string[];
  readonly warnings: readonly string[];
}

const INFERRED = /^(?:inferred index|inferred encoding|properties): /;
const WARNING = 'warning: ';

/** @param counted the counts of a load, or of all files of a job */
export function toLoadCounts(counted: Omit<Ingested, 'rejects'>): LoadCounts {
  const { columnsLeftOut, duplicates, ingested, invalid, quarantined, replaced } = counted;
  const { unchanged, validated } = counted;
  const notes = counted.notes.map(redactText);
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
