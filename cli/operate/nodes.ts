// `tapedeck nodes`: the servers that share the catalog in PostgreSQL, and which one serves.
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { withLink } from '../../store/postgres/link.ts';
import { type ListedNode, listNodes } from '../../store/postgres/nodeTable.ts';
import { sayTo, type Terminal } from '../reach/terminal.ts';

/** They tell of themselves each second. */
const SILENT_MS = 5_000;

export async function showNodes(
  options: { readonly json?: boolean },
  { database }: Settings,
  terminal: Terminal,
): Promise<void> {
  if (database === undefined) {
    throw new Failure('Conflict', 'nodes share a catalog in PostgreSQL: set TAPEDECK_DATABASE');
  }
  const nodes = await withLink(database, (link) => listNodes(link, database));
  const say = sayTo(terminal);
  if (options.json) return nodes.forEach((node) => say(JSON.stringify(node)));
  if (nodes.length === 0) say('no node was heard in the last day');
  for (const node of nodes) say(lineOf(node));
}

function lineOf({ address, name, serves, silentMs, startedAt, version }: ListedNode): string {
  const silent = silentMs > SILENT_MS ? `, not heard for ${Math.round(silentMs / 1000)} s` : '';
  const state = serves ? 'serves' : 'hands on';
  return `${name}: ${state}${silent}; ${version} at ${address}, since ${startedAt}`;
}
