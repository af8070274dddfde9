// Checks PostgreSQL as the place of the catalog: whether it answers, has a catalog, and syncs its writes.
import type { DatabaseSettings } from '../../store/base/settings/databaseSettings.ts';
import { reasonOf } from '../../store/base/failure.ts';
import {
  hasTable,
  type PostgresConnection,
  serverName,
  withConnection,
} from '../../store/postgres/postgresConnection.ts';
import { fault, type Finding, fine, notice, SERVE_CREATES_IT } from './finding.ts';

/** Settings that must be on to survive a loss of power. */
const SAFE = ['fsync', 'full_page_writes'];

export async function databaseFindings(settings: DatabaseSettings): Promise<readonly Finding[]> {
  try {
    return await withConnection(settings, (link) => findingsOf(link, settings));
  } catch (error) {
    const advice =
      'Check that it runs, and that TAPEDECK_DATABASE has its address, user and password.';
    return [fault('database', reasonOf(error), advice)];
  }
}

async function findingsOf(
  link: PostgresConnection,
  settings: DatabaseSettings,
): Promise<readonly Finding[]> {
  const { schema } = settings;
  const place = serverName(settings);
  const findings = (await hasTable(link, schema, 'folder'))
    ? [fine('database', `${place} has the catalog in schema ${schema}`)]
    : [notice('database', `${place} has no schema ${schema} yet`, SERVE_CREATES_IT)];
  for (const name of SAFE) {
    const { rows } = await link.run('select current_setting($1) as value', [name]);
    if ((rows[0] as { readonly value: string }).value === 'on') continue;
    const what = `${place} runs with ${name} = off: a loss of power may damage it`;
    findings.push(fault('database', what, `Set ${name} = on in postgresql.conf.`));
  }
  return findings;
}
