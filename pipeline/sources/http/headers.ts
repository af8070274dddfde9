// Headers that a user may add to an outgoing request.
import { SourceFailure } from '../base/source.ts';

const HEADERS_MAX = 50;
const NAME_CHARACTERS_MAX = 128;
/** Signed tokens have up to some thousands; most servers read 8,192 of all headers. */
const VALUE_CHARACTERS_MAX = 8_192;

/** RFC 9110 token. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** Headers that control the request itself, which a user must not set. */
const RESERVED: ReadonlySet<string> = new Set(
  `accept-encoding connection content-encoding content-length expect host http2-settings if-match
  if-modified-since if-none-match if-range if-unmodified-since keep-alive range te trailer
  transfer-encoding upgrade via`.split(/\s+/),
);

/** @throws SourceFailure naming the header, never its value. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const entries = Object.entries(headers);
  if (entries.length > HEADERS_MAX) refuse(`there are at most ${HEADERS_MAX} headers`);
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    const quotedName = JSON.stringify(name.slice(0, NAME_CHARACTERS_MAX));
    const lower = name.toLowerCase();
    if (!NAME.test(name) || name.length > NAME_CHARACTERS_MAX) refuse(`${quotedName} is no header`);
    if (RESERVED.has(lower) || lower.startsWith('proxy-'))
      refuse(`header ${quotedName} cannot be set`);
    if (seen.has(lower)) refuse(`header ${quotedName} is there twice`);
    if (!VALUE.test(value) || value.length > VALUE_CHARACTERS_MAX) {
      const rule = `at most ${VALUE_CHARACTERS_MAX} Latin-1 characters without line breaks`;
      refuse(`the value of header ${quotedName} must have ${rule}`);
    }
    seen.add(lower);
  }
}

function refuse(reason: string): never {
  throw new SourceFailure(reason, false);
}
