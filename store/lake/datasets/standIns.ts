// Invented records of the market in CORE, which stand in until their owner has real ones. They give way
// whole, in one commit: nobody reads some of both.
import { CORE, type Dataset } from './datasets.ts';

/** What the source of such a dataset says. */
export const STAND_IN_SOURCE = 'Synthetic exchange';

/** Whether the first records or the first schema of its owner take the place of all it has. */
export const isStandIn = ({ source, workspace }: Pick<Dataset, 'source' | 'workspace'>): boolean =>
  workspace === CORE && source === STAND_IN_SOURCE;
