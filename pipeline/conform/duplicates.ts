// Rules for records that repeat an index value or a whole record. One rule for loads, pushes,
// schedules and feeds: on a declared index the newest write replaces; without one every record is kept.
import type { DatasetIndex } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';

/** Values of the parameter `duplicates`. */
export const DUPLICATES = [
  'replace',
  'keep-first',
  'reject',
  'keep-all',
  'skip-identical',
] as const;

export type Duplicates = (typeof DUPLICATES)[number];

/** Values of the parameter `duplicateKeyHandling` of the original's clients. */
export type DuplicateKeyHandling = 'ignore' | 'replace' | 'refuse';

/** The members of a load that control duplicates. */
export interface DuplicateRules {
  /** For a unique index; `reject` leaves records out like `ignore`, and reports each. */
  readonly duplicates: 'ignore' | 'replace' | 'reject';
  /** The caller's choice in the parameter `duplicates`. */
  readonly chosen?: Duplicates;
  /** Fails a load that creates a dataset if its file repeats a value of the declared index. */
  readonly refusesRepeats?: true;
  readonly skipsIdentical?: 'of-all';
}

/** Which record is stored among those that repeat an index value. */
export const repeatHandling = ({
  duplicates,
}: Pick<DuplicateRules, 'duplicates'>): 'ignore' | 'replace' =>
  duplicates === 'replace' ? 'replace' : 'ignore';

const RULES: Readonly<Record<Duplicates, DuplicateRules>> = {
  replace: { duplicates: 'replace', chosen: 'replace' },
  'keep-first': { duplicates: 'ignore', chosen: 'keep-first' },
  reject: { duplicates: 'reject', chosen: 'reject' },
  'keep-all': { duplicates: 'replace', chosen: 'keep-all' },
  'skip-identical': { duplicates: 'replace', chosen: 'skip-identical', skipsIdentical: 'of-all' },
};

export function duplicateRules(
  chosen: Duplicates | undefined,
  handling?: DuplicateKeyHandling,
): DuplicateRules {
  if (chosen !== undefined) return RULES[chosen];
  if (handling === 'refuse') return { duplicates: 'replace', refusesRepeats: true };
  return { duplicates: handling ?? 'replace' };
}

/** Choices that need a unique index. */
const BY_INDEX: ReadonlySet<string> = new Set(['replace', 'keep-first', 'reject']);

/**
 * @param index of the dataset, or of the one that the load creates
 * @throws Failure InvalidBody for a choice that the dataset's index rules out.
 */
export function checkDuplicates(
  place: string,
  { numbered }: DatasetIndex,
  chosen?: Duplicates,
): void {
  if (chosen === undefined) return;
  if (numbered && BY_INDEX.has(chosen)) {
    const rule = 'declare key, subkey or date first, or leave duplicates out to keep every record';
    throw new Failure(
      'InvalidBody',
      `duplicates=${chosen} needs a unique index, and ${place} has none: ${rule}`,
    );
  }
  if (!numbered && chosen === 'keep-all') {
    const rule = 'set uniqueIndex to false on the dataset first';
    throw new Failure(
      'InvalidBody',
      `duplicates=keep-all cannot hold: ${place} has a unique index; ${rule}`,
    );
  }
}
