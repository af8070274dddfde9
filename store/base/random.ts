// The only file that reads randomness.
import { randomBytes, randomUUID } from 'node:crypto';

/** The lower-case hex text of `bytes` random bytes. */
export const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex');

/** Creates a generator of distinct ids of 16 hex digits: a random id costs 10 µs, like a cached read. */
export function createIdGenerator(): () => string {
  let [start, count] = ['', 0xffffffff];
  return () => {
    count += 1;
    if (count > 0xffffffff) [start, count] = [randomHex(4), 0];
    return `${start}${count.toString(16).padStart(8, '0')}`;
  };
}

/** Random bytes for keys and initialisation vectors. */
export const randomKey = (bytes: number): Buffer => randomBytes(bytes);

/** RFC 9562 version 4 UUID. */
export const newUuid = (): string => randomUUID();

/** A random number from 0 up to 1: for jitter, never for secrets. */
export const randomFraction = (): number => Math.random();
