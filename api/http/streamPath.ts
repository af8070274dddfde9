// Names of streams in any case: clients of the original write `stocksusnoutp` too (INTERFACE.md 2.2).
import { streamName } from '../sse/streamTable.ts';

/** `/version/name`, whatever follows. */
const NAMED = /^(\/[^/?#]+\/)([A-Za-z0-9-]{3,30})(?=[?/#]|$)/;

/** The path of a request as the table of endpoints spells it. */
export const spelledPath = (url: string): string =>
  url.replace(NAMED, (whole, before: string, name: string) => {
    const spelled = streamName(name);
    return spelled === undefined ? whole : `${before}${spelled}`;
  });
