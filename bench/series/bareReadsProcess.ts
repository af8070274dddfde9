// Parent's side of bare reads.
import { requestChild, endChild, forkChild } from '../http/childRequests.ts';
import { median, type Measurement } from '../base/measure.ts';

export interface BareRead {
  readonly files: readonly string[];
  readonly keys: readonly string[];
  /** Records per key. */
  readonly last: number;
}

export interface BareReader extends AsyncDisposable {
  /** Returns the median of the reads and the milliseconds of each. */
  read(request: BareRead): Promise<Measurement>;
}

export function openBareReader(): BareReader {
  const child = forkChild('../series/bareReads.ts');
  return {
    read: async (request) => {
      const { cpuMs, times } = await requestChild<{
        readonly times: readonly number[];
        readonly cpuMs: number;
      }>(child, request);
      return { ms: median(times), times, cpuMs };
    },
    [Symbol.asyncDispose]: () => endChild(child),
  };
}
