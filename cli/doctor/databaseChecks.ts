// PostgreSQL as the place of the catalog: does it answer, has it a catalog, is what it tells synced?
import type { DatabaseSettings } from '../../store/base/databaseSettings.ts';
import { reasonOf } from '../../store/base/failure.ts';
import { openLink } from '../../store/postgres/link.ts';
import { fault, fine, type Finding, notice } from './finding.ts';

/** What a loss of power may not be met with, each with what it has to be. */
const SAFE = ['fsync', 'full_page_writes'];

export async function databaseFindings(settings: DatabaseSettings): Promise<readonly Finding[]> {
  const { database, host, port, schema } = settings;
  const place = `PostgreSQL at ${host}:${port}, database ${database}`;
  try {
    const link = await openLink(settings);
    try {
      const one = async (query: string, ...given: readonly string[]): Promise<string> =>
        String(Object.values((await link.run(query, given)).rows[0] ?? {})[0]);
      const found = await one(
        "select to_regclass(quote_ident($1) || '.folder') is not null",
        schema,
      );
      const unsafe: string[] = [];
      for (const name of SAFE) {
        if ((await one('select current_setting($1)', name)) !== 'on') unsafe.push(name);
      }
      return [
        found === 'true'
          ? fine('database', `${place} has the catalog in schema ${schema}`)
          : notice(
              'database',
              `${place} has no schema ${schema} yet`,
              '`tapedeck serve` makes it.',
            ),
        ...unsafe.map((name) => {
          const advice = `Set ${name} = on in postgresql.conf.`;
          return fault(
            'database',
            `${place} runs with ${name} = off: a loss of power may damage it`,
            advice,
          );
        }),
      ];
    } finally {
      await link.close();
    }
  } catch (error) {
    const advice = 'See that it runs, and that TAPEDECK_DATABASE names it, its user and password.';
    return [fault('database', reasonOf(error), advice)];
  }
}
