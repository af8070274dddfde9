// The checker of schemas, loaded when a body is checked first: no start has to wait for its 190 files.
import type * as Checks from 'typebox/schema';

let loaded: Promise<typeof Checks> | undefined;

export const checks = (): Promise<typeof Checks> => (loaded ??= import('typebox/schema'));
