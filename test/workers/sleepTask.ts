// A task for tests: occupies its thread for some milliseconds, or fails as requested.
export interface SleepInput {
  readonly ms: number;
  readonly failure?: 'error' | 'memory';
}

export function run({ failure, ms }: SleepInput): { readonly sleptMs: number } {
  if (failure === 'error') throw new TypeError('the task failed');
  const lists: number[][] = [];
  while (failure === 'memory') lists.push(Array.from({ length: 1_000_000 }, (_, at) => at + 0.5));
  const began = performance.now();
  while (performance.now() - began < ms);
  return { sleptMs: ms };
}
