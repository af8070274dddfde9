// Accepts stream names in any case: clients of the original also write `stocksusnoutp` (INTERFACE.md 2.2).
import { findStreamName } from '../../reads/live/streamTable.ts';

/** `/version/name` and anything after it. */
const STREAM_PATH = /^(\/[^/?#]+\/)([A-Za-z0-9-]{3,30})(?=[?/#]|$)/;

/** The path of a request in the spelling of the table of endpoints. */
export const normalizeStreamPath = (url: string): string =>
  url.replace(STREAM_PATH, (whole, before: string, name: string) => {
    const spelling = findStreamName(name);
    return spelling === undefined ? whole : `${before}${spelling}`;
  });
