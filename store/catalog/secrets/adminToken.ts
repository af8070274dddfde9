// The admin token: a setting, or a file in the data folder that is created at the first start.
import { createHash, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { randomHex } from '../../base/random.ts';
import { writeSecretFile } from './secretFile.ts';

/** Reads the token. @param setting its setting, or empty */
export function loadAdminToken(setting: string, path: string): string {
  if (setting !== '') return setting;
  if (!existsSync(path)) writeSecretFile(path, `ak_${randomHex(24)}`);
  return readFileSync(path, 'utf8').trim();
}

/** Compares two texts in constant time. */
export const isSameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(digest(one), digest(other));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
