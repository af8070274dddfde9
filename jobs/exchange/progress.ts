// How far the first fill of CORE is: inputs that are to come are not the same as inputs that nobody has.
// Empty before it begins and after it ends, also when it failed: nothing else comes then.
import type { FilledId } from '../../market/inputs/inputRow.ts';

export interface FillProgress {
  readonly begin: (inputs: readonly FilledId[]) => void;
  readonly done: (input: FilledId) => void;
  readonly end: () => void;
  /** Whether the input has no record yet and is to be loaded. */
  readonly isPending: (input: string) => boolean;
  /** Of the inputs that it began with, in whole percent. */
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
