// Checks which pages may use /mcp. A browser sends the page's origin with each POST: a page of another site
// that points its own name at this machine (DNS rebinding) has that name as its origin and as Host.
import { isIP } from 'node:net';
import type { IncomingHttpHeaders } from 'node:http';
import type { Settings } from '../../store/base/settings/settings.ts';

export type OriginSettings = Pick<Settings, 'host' | 'mcpOrigins'>;

export const ORIGIN_DENIED =
  'Pages of this origin may not use /mcp; the operator can add it to TAPEDECK_MCP_ORIGINS\n';

/** Always true without an origin: only browsers send one. */
export function isAllowed(
  { host, origin }: IncomingHttpHeaders,
  settings: OriginSettings,
): boolean {
  if (origin === undefined) return true;
  return settings.mcpOrigins.has(origin.toLowerCase()) || isOwn(origin, host, settings);
}

/** Whether the page is this server's, by an address or a name that nobody else can point here. */
function isOwn(origin: string, host: string | undefined, settings: OriginSettings): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || url.host !== host?.toLowerCase()) return false;
  const name = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(name) !== 0 || name === 'localhost' || name === settings.host.toLowerCase();
}
