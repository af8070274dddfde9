// Parent's side of bare reads.
import { answerOf, ended, forked } from '../http/childAsked.ts';
import { median, type Taken } from '../base/measure.ts';

export interface BareRead {
  readonly files: readonly string[];
  readonly keys: readonly string[];
  /** Records per key. */
  readonly last: number;
}

export interface BareReader extends AsyncDisposable {
  /** Returns the median of the reads and the milliseconds of each. */
  read(wanted: BareRead): Promise<Taken>;
}

export function openBareReader(): BareReader {
  const child = forked('../series/bareReads.ts');
  return {
    read: async (wanted) => {
      const { cpuMs, times } = await answerOf<{
        readonly times: readonly number[];
        readonly cpuMs: number;
      }>(child, wanted);
      return { ms: median(times), times, cpuMs };
    },
    [Symbol.asyncDispose]: () => ended(child),
  };
}
