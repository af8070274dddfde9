// What a 404 says in its problem form: what was asked for. It is the same sentence for what is not there and
// for what the token may not know of.
import { redacted } from '../../store/base/redact.ts';

const SHOWN_MAX = 100;

/** @param path without its query @param params parts of the path that its route names */
export function notFoundDetail(
  method: string,
  path: string,
  params: Readonly<Record<string, unknown>> | undefined,
): string {
  const named = Object.entries(params ?? {}).filter(
    ([name, value]) => name !== '*' && name !== 'version' && typeof value === 'string',
  );
  if (named.length === 0) return `there is no ${method} ${shown(path)}`;
  const parts = named.map(([name, value]) => `${name} "${shown(String(value))}"`);
  return `there is nothing that this token may know of: ${parts.join(', ')}`;
}

/** A token that was given as a name is not repeated: answers end up in logs of others. */
const shown = (text: string): string => redacted(text).slice(0, SHOWN_MAX);
