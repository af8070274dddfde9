// `tapedeck nodes`: lists the servers that share the catalog in PostgreSQL, and which one serves.
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { withConnection } from '../../store/postgres/postgresConnection.ts';
import { type ListedNode, listNodes } from '../../store/postgres/nodeTable.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';

/** A node without a heartbeat for so long counts as silent; heartbeats are sent each second. */
const SILENT_MS = 5_000;

export async function showNodes(
  options: { readonly json?: boolean },
  { database }: Settings,
  terminal: Terminal,
): Promise<void> {
  if (database === undefined) {
    throw new Failure('Conflict', 'nodes share a catalog in PostgreSQL: set TAPEDECK_DATABASE');
  }
  const nodes = await withConnection(database, (link) => listNodes(link, database));
  const print = printTo(terminal);
  if (options.json) return nodes.forEach((node) => print(JSON.stringify(node)));
  if (nodes.length === 0) print('no node sent a heartbeat in the last day');
  for (const node of nodes) print(lineOf(node));
}

function lineOf({ address, name, serves, silentMs, startedAt, version }: ListedNode): string {
  const silent = silentMs > SILENT_MS ? `, silent for ${Math.round(silentMs / 1000)} s` : '';
  const state = serves ? 'serves' : 'forwards';
  return `${name}: ${state}${silent}; ${version} at ${address}, since ${startedAt}`;
}
