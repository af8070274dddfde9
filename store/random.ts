// The one place that reads randomness.
import { randomBytes, randomUUID } from 'node:crypto';

/** Lower-case hex text of `bytes` random bytes. */
export const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex');

/** Fresh random bytes: keys and initialisation vectors. */
export const randomKey = (bytes: number): Buffer => randomBytes(bytes);

/** RFC 9562 version 4 UUID. */
export const newUuid = (): string => randomUUID();
