// Describes the requested resource for the problem form of a 404. The message is the same for a missing
// resource and for one that the token has no access to.
import { redactText } from '../../store/base/redact.ts';

const SHOWN_MAX = 100;

/** @param path without its query @param params named parts of the path */
export function notFoundDetail(
  method: string,
  path: string,
  params: Readonly<Record<string, unknown>> | undefined,
): string {
  const namedParts = Object.entries(params ?? {}).filter(
    ([name, value]) => name !== '*' && name !== 'version' && typeof value === 'string',
  );
  if (namedParts.length === 0) return `there is no ${method} ${shorten(path)}`;
  const parts = namedParts.map(([name, value]) => `${name} "${shorten(String(value))}"`);
  return `there is nothing that this token may know of: ${parts.join(', ')}`;
}

/** Redacts a token that was sent as a name: answers end up in logs of others. */
const shorten = (text: string): string => redactText(text).slice(0, SHOWN_MAX);
