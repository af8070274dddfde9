// A PostgreSQL for the tests of one file, with a schema for each caller; and its settings behind a wire.
import assert from 'node:assert/strict';
import {
  parseDatabaseSettings,
  type DatabaseSettings,
} from '../../../store/base/settings/databaseSettings.ts';
import { type Postgres, startPostgres } from '../../base/servers/postgres.ts';

const MISSING = 'PostgreSQL is not on this machine (Debian: postgresql)';

export interface PostgresHere extends AsyncDisposable {
  readonly postgres: Postgres;
  /** `TAPEDECK_DATABASE` for a schema of that name. */
  url(schema: string, port?: number): string;
  settings(schema: string, port?: number): DatabaseSettings;
}

/** Undefined where the machine has none, which `CI` does not let pass. */
export async function postgresHere(): Promise<PostgresHere | undefined> {
  const postgres = await startPostgres('max_connections = 60\n');
  if (postgres === undefined) {
    assert.notEqual(process.env['CI'], 'true', MISSING);
    return undefined;
  }
  const url = (schema: string, port?: number): string => `${postgres.url(port)}?schema=${schema}`;
  const settings = (schema: string, port?: number): DatabaseSettings => {
    const read = parseDatabaseSettings(url(schema, port));
    assert.ok(read);
    return read;
  };
  return { postgres, url, settings, [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose]() };
}
