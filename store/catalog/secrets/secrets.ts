// Keyed hashes and encrypted texts under the data key.
import { createCipheriv, createDecipheriv, createHmac, createSecretKey } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { Failure } from '../../base/failure.ts';
import { randomHex, randomKey } from '../../base/random.ts';
import { writeSecretFile } from './secretFile.ts';

export interface Secrets {
  /** HMAC-SHA-256 under the data key, hex: finds a token without storing it. */
  hash(text: string): string;
  /** AES-256-GCM under the data key: base64 of nonce, tag and text. */
  seal(text: string): string;
  /** @throws Failure SystemError when the text was not sealed under this key. */
  unseal(sealed: string): string;
}

/** Secrets whose key can be rotated at run time. */
export interface LiveSecrets extends Secrets {
  /** Seals under another key from now on; texts sealed before can still be unsealed. */
  rotateTo(fresh: Secrets): void;
}

/** @param former keys of a rotation that may be incomplete */
export function createLiveSecrets(first: Secrets, ...former: readonly Secrets[]): LiveSecrets {
  let keys = [first, ...former];
  const current = (): Secrets => keys[0] ?? first;
  return {
    hash: (text) => current().hash(text),
    seal: (text) => current().seal(text),
    unseal: (sealed) => {
      const others = keys.slice(1);
      if (others.length === 0) return current().unseal(sealed);
      const key = keys.find((one) => canUnseal(one, sealed)) ?? current();
      return key.unseal(sealed);
    },
    rotateTo: (fresh) => void (keys = [fresh, ...keys].slice(0, KEYS_MAX)),
  };
}

/** Limit of keys in one process: rotations since its start. */
const KEYS_MAX = 100;

export function canUnseal(secrets: Secrets, sealed: string): boolean {
  try {
    secrets.unseal(sealed);
    return true;
  } catch {
    return false;
  }
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** @param hex the key, or empty: then it is in the file at `path`, which is created at the first start */
export function openSecrets(hex: string, path: string): Secrets {
  const key = Buffer.from(hex === '' ? loadKeyFile(path) : hex, 'hex');
  const secret = createSecretKey(key);
  return {
    hash: cacheHashes((text) => createHmac('sha256', secret).update(text).digest('hex')),
    seal: (text) => seal(key, text),
    unseal: (sealed) => unseal(key, sealed),
  };
}

/** Cached hashes, and the maximum length of their texts; a full cache is cleared. */
const CACHED_HASHES_MAX = 10_000;
const CACHED_TEXT_LENGTH_MAX = 128;

/** Caches hashes: every call hashes its token, and the same few tokens take 5 µs each. */
function cacheHashes(hash: (text: string) => string): (text: string) => string {
  const cache = new Map<string, string>();
  return (text) => {
    const cached = cache.get(text);
    if (cached !== undefined) return cached;
    const computed = hash(text);
    if (cache.size >= CACHED_HASHES_MAX) cache.clear();
    if (text.length <= CACHED_TEXT_LENGTH_MAX) cache.set(text, computed);
    return computed;
  };
}

/** Reads or creates the key file atomically: secrets sealed under a lost key could never be unsealed. */
function loadKeyFile(path: string): string {
  if (!existsSync(path)) writeSecretFile(path, randomHex(KEY_BYTES));
  const hex = readFileSync(path, 'utf8').trim();
  if (new RegExp(`^[0-9a-f]{${KEY_BYTES * 2}}$`, 'i').test(hex)) return hex;
  throw new Failure(
    'SystemError',
    `the key file ${path} does not hold ${KEY_BYTES * 2} hex digits`,
  );
}

function seal(key: Buffer, text: string): string {
  const nonce = randomKey(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
}

function unseal(key: Buffer, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    const body = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([body, decipher.final()]).toString('utf8');
  } catch {
    throw new Failure('SystemError', 'a stored secret does not open: is this the right data key?');
  }
}
