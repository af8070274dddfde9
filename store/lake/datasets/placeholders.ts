// Recognises placeholder datasets: synthetic market records in CORE until the owner has real ones. They are
// replaced as a whole in one commit, so that no reader sees a mix of both.
import { CORE, type Dataset } from './datasets.ts';

/** Value of `source` that marks a placeholder dataset. */
export const PLACEHOLDER_SOURCE = 'Synthetic exchange';

/** Whether the first records or schema of the owner replace the whole dataset. */
export const isPlaceholder = ({
  source,
  workspace,
}: Pick<Dataset, 'source' | 'workspace'>): boolean =>
  workspace === CORE && source === PLACEHOLDER_SOURCE;
