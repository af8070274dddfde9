// The log: JSON lines on stderr, none of which holds a token.
import pino, { type Logger } from 'pino';
import { redacted } from '../../store/base/redact.ts';

/** Characters of a logged path. */
const PATH_MAX = 500;

/** Whatever is logged, by whomever, goes through here. */
export function openLog(level: string): Logger {
  const stderr = pino.destination({ fd: 2, sync: true });
  return pino({ level }, { write: (line: string) => void stderr.write(redacted(line)) });
}

/**
 * The path of a URL, as it is logged: up to where a query begins, however it was spelled. Redacted
 * before it is cut, so that half a token is not left.
 */
export const pathLogged = (url: string): string =>
  redacted(url.split(/[?&;]|%(?:25)*(?:3f|26|3b)/i, 1)[0] ?? '').slice(0, PATH_MAX);
