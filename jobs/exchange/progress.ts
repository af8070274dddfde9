// Progress of the first fill of CORE: distinguishes pending inputs from inputs that nobody has. Empty before
// the fill begins and after it ends, also when it failed: nothing more is loaded then.
import type { FilledId } from '../../market/inputs/inputRow.ts';

export interface FillProgress {
  readonly begin: (inputs: readonly FilledId[]) => void;
  readonly done: (input: FilledId) => void;
  readonly end: () => void;
  /** Whether the input has no record yet and will be loaded. */
  readonly isPending: (input: string) => boolean;
  /** Share of the inputs that it began with, in whole percent. */
  readonly percent: () => number;
}

export function makeFillProgress(): FillProgress {
  let total = 0;
  const pending = new Set<string>();
  return {
    begin: (inputs) => {
      pending.clear();
      for (const input of inputs) pending.add(input);
      total = pending.size;
    },
    done: (input) => void pending.delete(input),
    end: () => pending.clear(),
    isPending: (input) => pending.has(input),
    percent: () => (total === 0 ? 100 : Math.floor((100 * (total - pending.size)) / total)),
  };
}
