// Whatever looks like a token of ours, or a signing secret, is told by its ends: in every log line,
// failure, reject, job message and audit entry. Callers put tokens where none belongs, such as the
// path, a statement or a cell, and what was made of them is read by others.

/** What follows a prefix of ours; it is looked at from its underscore on, so that none hides the next. */
const AFTER_PREFIX = /(?<=pk|sk|ak)_[0-9a-z]+/gi;
/** Tokens that we made have 32 or 48 hex digits, wherever they stand. */
const MADE = /^_[0-9a-f]{32,}/i;
/**
 * Given ones begin a word and have at least 8 characters, a digit among the first 16 or all of them. So
 * the column `pk_identifier` keeps its name.
 */
const GIVEN = /^_(?:(?=[a-z]{0,15}[0-9])[a-z0-9]{8}|[a-z]{16})/i;
/** A word begins where no letter or digit is before; one that ends an escape of JSON, as `\\n`, is none. */
const WORD_BEGINS = /(?:^|[^a-z0-9]|\\[a-z])T?(?:pk|sk|ak)$/i;
/** A signing secret or a data key has 64 hex digits; a hash, which may have as many, keeps its ends. */
const SECRET = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/gi;
/** What can be one word of a URL, however it is encoded. */
const WORDS = /[\w%]+/g;
/** Times that a percent sign is looked behind. */
const ENCODED_MAX = 3;

/** The text without any token that stands in it, plain or percent-encoded. */
export function redacted(text: string): string {
  const plain = hidden(text);
  return plain.includes('%') ? plain.replaceAll(WORDS, decodedHidden) : plain;
}

const hidden = (text: string): string =>
  text
    .replaceAll(AFTER_PREFIX, (found: string, at: number) => {
      const made = MADE.exec(found)?.[0];
      // As tokens are shown to their owner; a short one would be told by half.
      if (made !== undefined) return `_…${made.slice(-4)}${found.slice(made.length)}`;
      const given = GIVEN.test(found) && WORD_BEGINS.test(text.slice(Math.max(0, at - 5), at));
      if (!given) return found;
      return `_…${found.length > 32 ? found.slice(-4) : ''}`;
    })
    .replaceAll(SECRET, (secret: string) => `${secret.slice(0, 4)}…${secret.slice(-4)}`);

function decodedHidden(word: string): string {
  let decoded = word;
  for (let at = 0; at < ENCODED_MAX && decoded.includes('%'); at += 1) {
    decoded = decoded.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    // Nothing that ends a text of JSON or a line may come of it.
    const safe = decoded.replaceAll(/[^ \w%&+,./:;=?~-]/g, '_');
    const told = hidden(safe);
    if (told !== safe) return told;
  }
  return word;
}

/** Plain data with every text in it redacted, names of members as well. */
export function redactedData(value: unknown): unknown {
  if (typeof value === 'string') return redacted(value);
  if (Array.isArray(value)) return value.map(redactedData);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [
    redacted(name),
    redactedData(member),
  ]);
  return Object.fromEntries(members) as unknown;
}
