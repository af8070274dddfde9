// Writes the log as JSON lines to stderr, with tokens redacted.
import pino, { type Logger } from 'pino';
import { redactText } from '../../store/base/redact.ts';

/** Characters of a logged path. */
const PATH_MAX = 500;

/** Every log line is redacted here. */
export function openLog(level: string): Logger {
  const stderr = pino.destination({ fd: 2, sync: true });
  return pino({ level }, { write: (line: string) => void stderr.write(redactText(line)) });
}

/**
 * The path of a URL for the log: up to the query, in any encoding. It is redacted before it is cut, so that
 * no part of a token is left.
 */
export const redactPath = (url: string): string =>
  redactText(url.split(/[?&;]|%(?:25)*(?:3f|26|3b)/i, 1)[0] ?? '').slice(0, PATH_MAX);
