// Masks everything that looks like a token or a signing secret in log lines, errors, rejects, job
// messages and audit entries. Callers put tokens in wrong places, such as the path, a statement or a
// cell, and other people read the resulting texts.

/** The text after a token prefix. A match begins at the underscore, so that adjacent tokens are all found. */
const AFTER_PREFIX = /(?<=pk|sk|ak)_[0-9a-z]+/gi;
/** Generated tokens have 32 or 48 hex digits, anywhere in the text. */
const GENERATED = /^_[0-9a-f]{32,}/i;
/**
 * Configured tokens begin a word and have at least 8 characters, a digit among the first 16 or all of them.
 * So the column `pk_identifier` is not masked.
 */
const CONFIGURED = /^_(?:(?=[a-z]{0,15}[0-9])[a-z0-9]{8}|[a-z]{16})/i;
/** A word begins where no letter or digit precedes; the end of a JSON escape, such as `\\n`, is no letter. */
const WORD_BEGINS = /(?:^|[^a-z0-9]|\\[a-z])T?(?:pk|sk|ak)$/i;
/** Signing secrets and data keys have 64 hex digits. So may hashes: the first and last digits are kept. */
const SECRET = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/gi;
/** A word of a URL, percent-encoded or not. */
const WORDS = /[\w%]+/g;
/** Levels of percent-encoding that are decoded. */
const ENCODED_MAX = 3;

/** Masks all tokens in a text, plain or percent-encoded. */
export function redactText(text: string): string {
  const plain = maskTokens(text);
  return plain.includes('%') ? plain.replaceAll(WORDS, maskEncodedWord) : plain;
}

const maskTokens = (text: string): string =>
  text
    .replaceAll(AFTER_PREFIX, (candidate: string, at: number) => {
      const generated = GENERATED.exec(candidate)?.[0];
      // Shows the last four characters, as for the owner; of a short token that would reveal half.
      if (generated !== undefined)
        return `_…${generated.slice(-4)}${candidate.slice(generated.length)}`;
      const isConfigured =
        CONFIGURED.test(candidate) && WORD_BEGINS.test(text.slice(Math.max(0, at - 5), at));
      if (!isConfigured) return candidate;
      return `_…${candidate.length > 32 ? candidate.slice(-4) : ''}`;
    })
    .replaceAll(SECRET, (secret: string) => `${secret.slice(0, 4)}…${secret.slice(-4)}`);

function maskEncodedWord(word: string): string {
  let decoded = word;
  for (let at = 0; at < ENCODED_MAX && decoded.includes('%'); at += 1) {
    decoded = decoded.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    // Replaces characters that could end a JSON string or a line.
    const safe = decoded.replaceAll(/[^ \w%&+,./:;=?~-]/g, '_');
    const masked = maskTokens(safe);
    if (masked !== safe) return masked;
  }
  return word;
}

/** Masks tokens in all texts of plain data, including member names. */
export function redactData(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map(redactData);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [
    redactText(name),
    redactData(member),
  ]);
  return Object.fromEntries(members) as unknown;
}
