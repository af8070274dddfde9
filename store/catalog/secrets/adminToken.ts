// The operator's own token: a setting, or a file in the data folder that is made at the first start.
import { createHash, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { randomHex } from '../../base/random.ts';
import { writeSecretFile } from './secretFile.ts';

/** The token; `given` is the setting, or empty. */
export function adminToken(given: string, path: string): string {
  if (given !== '') return given;
  if (!existsSync(path)) writeSecretFile(path, `ak_${randomHex(24)}`);
  return readFileSync(path, 'utf8').trim();
}

/** Compares two texts in a time that tells nothing of either. */
export const sameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(digest(one), digest(other));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
