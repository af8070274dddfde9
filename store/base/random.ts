// The one place that reads randomness.
import { randomBytes, randomUUID } from 'node:crypto';

/** Lower-case hex text of `bytes` random bytes. */
export const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex');

/** Makes texts of 16 hex digits that differ: random ones cost 10 µs, as much as a read of memory. */
export function countedIds(): () => string {
  let [start, count] = ['', 0xffffffff];
  return () => {
    count += 1;
    if (count > 0xffffffff) [start, count] = [randomHex(4), 0];
    return `${start}${count.toString(16).padStart(8, '0')}`;
  };
}

/** Fresh random bytes: keys and initialisation vectors. */
export const randomKey = (bytes: number): Buffer => randomBytes(bytes);

/** RFC 9562 version 4 UUID. */
export const newUuid = (): string => randomUUID();

/** 0 up to 1: for waits that should differ, never for secrets. */
export const randomShare = (): number => Math.random();
