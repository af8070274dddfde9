// One PostgreSQL for all files of the contract, whose processes get its URL from their environment.
import { startPostgres } from '../../../base/servers/postgres.ts';
import { POSTGRES_URL } from './contract.ts';

export async function setup(): Promise<() => Promise<void>> {
  const postgres = await startPostgres('max_connections = 100\n');
  if (postgres === undefined) return async () => undefined;
  process.env[POSTGRES_URL] = postgres.url();
  return async () => {
    await postgres[Symbol.asyncDispose]();
  };
}
