// The data key and what it protects: look-up hashes and sealed texts.
import { createCipheriv, createDecipheriv, createHmac, createSecretKey } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { Failure } from '../../base/failure.ts';
import { randomHex, randomKey } from '../../base/random.ts';
import { writeSecretFile } from './secretFile.ts';

export interface Secrets {
  /** HMAC-SHA-256 under the data key, hex: looks a token up without keeping it. */
  hash(text: string): string;
  /** AES-256-GCM under the data key: base64 of nonce, tag and text. */
  seal(text: string): string;
  /** @throws Failure SystemError when the text was not sealed under this key. */
  unseal(sealed: string): string;
}

/** Secrets whose key may change while they are used. */
export interface LiveSecrets extends Secrets {
  /** From now on everything is sealed under another key; what was sealed before still opens. */
  become(fresh: Secrets): void;
}

/** @param former of a rotation that may not have met everything */
export function liveSecrets(first: Secrets, ...former: readonly Secrets[]): LiveSecrets {
  let keys = [first, ...former];
  const current = (): Secrets => keys[0] ?? first;
  return {
    hash: (text) => current().hash(text),
    seal: (text) => current().seal(text),
    unseal: (sealed) => {
      const others = keys.slice(1);
      if (others.length === 0) return current().unseal(sealed);
      const key = keys.find((one) => doesOpen(one, sealed)) ?? current();
      return key.unseal(sealed);
    },
    become: (fresh) => void (keys = [fresh, ...keys].slice(0, KEYS_MAX)),
  };
}

/** Keys of one process: rotations that were not followed by a start. */
const KEYS_MAX = 100;

export function doesOpen(secrets: Secrets, sealed: string): boolean {
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

/** `hex` is the key itself, or empty: then the file at `path` holds it, made at the first start. */
export function openSecrets(hex: string, path: string): Secrets {
  const key = Buffer.from(hex === '' ? keyFile(path) : hex, 'hex');
  const secret = createSecretKey(key);
  return {
    hash: remembering((text) => createHmac('sha256', secret).update(text).digest('hex')),
    seal: (text) => seal(key, text),
    unseal: (sealed) => unseal(key, sealed),
  };
}

/** Texts whose hash is remembered, and their greatest length: past it they are forgotten at once. */
const REMEMBERED_MAX = 10_000;
const REMEMBERED_LENGTH = 128;

/** Every call hashes its token: the same few texts, 5 µs each. */
function remembering(hash: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const made = hash(text);
    if (known.size >= REMEMBERED_MAX) known.clear();
    if (text.length <= REMEMBERED_LENGTH) known.set(text, made);
    return made;
  };
}

/** Written whole or not at all: tokens that were made under a lost key could never be read again. */
function keyFile(path: string): string {
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
