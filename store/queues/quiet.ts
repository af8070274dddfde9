/**
 * Something is about to be seen by readers here. Undefined: nobody else answers by what was there
 * before. Else it resolves once nobody does; they do so again, by what they heard meanwhile, after what
 * it resolves with was called.
 * @param tableIds it concerns only these tables; all when undefined
 */
export type Quiet = (tableIds?: readonly number[]) => Promise<() => void> | undefined;
