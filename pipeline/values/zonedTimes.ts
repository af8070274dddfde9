// Converts texts that are local times of a zone, unless the text has its own offset.
import { instantIn } from '../dates/timeZones.ts';
import type { DateSpelling } from './dateFormats.ts';
import { hasOffsetTest, evaluateOnce } from './dateReading.ts';

type Read = DateSpelling['read'] | undefined;

const isInstant = (read: Read): boolean =>
  read?.kind === 'epoch' || (read?.kind === 'strptime' && read.hasOffset === true);

/** The instant of `date`, the time of the text without its zone. */
export function zonedInstant(
  text: string,
  date: string,
  read: Read,
  zone: string,
  type: 'timestamp' | 'timestamp_ns',
): string {
  if (isInstant(read)) return date;
  const instant = evaluateOnce(date, 'local', (local) => instantIn(local, zone, type));
  // Counts since 1970 have no zone.
  const isCount = type === 'timestamp_ns' ? `regexp_full_match(${text}, '-?[0-9]+')` : 'false';
  return read?.kind === 'strptime'
    ? instant
    : `CASE WHEN ${hasOffsetTest(text)} OR ${isCount} THEN ${date} ELSE ${instant} END`;
}

/** `date` if it is a local time, else null; undefined if it never is. */
export function localOnly(text: string, date: string, read: Read): string | undefined {
  if (isInstant(read)) return undefined;
  return read?.kind === 'strptime' ? date : `CASE WHEN NOT ${hasOffsetTest(text)} THEN ${date} END`;
}
