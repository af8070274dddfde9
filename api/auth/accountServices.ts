// Binds the services to one account: its DuckDB requests wait in the account's own queue.
import { LruMap } from 'toad-cache';
import type { Services } from '../request/endpoint.ts';

/** Accounts whose services are cached; to create them again takes a microsecond. */
const ACCOUNTS_MAX = 1_000;

export const withAccountSql = <Some extends Pick<Services, 'sql'>>(
  services: Some,
  accountId: string,
): Some => ({
  ...services,
  sql: { ...services.sql, pool: services.sql.pool.forAccount(accountId) },
});

/** Binds SQL and series reads to an account. */
export const withAccountReads = <Some extends Pick<Services, 'series' | 'sql'>>(
  services: Some,
  accountId: string,
): Some => {
  const { series } = services;
  return {
    ...withAccountSql(services, accountId),
    series: { ...series, pool: series.pool.forAccount(accountId) },
  };
};

/** Binds SQL, series reads and loads to an account. */
export function withAccountPools(services: Services, accountId: string): Services {
  const { ingestion } = services;
  return {
    ...withAccountReads(services, accountId),
    ingestion: { ...ingestion, pool: ingestion.pool.forAccount(accountId) },
  };
}

/** Caches the services of each account. */
export function cacheByAccount<S extends object>(
  make: (accountId: string) => S,
): (accountId: string) => S {
  const cache = new LruMap<S>(ACCOUNTS_MAX);
  return (accountId) => {
    const cached = cache.get(accountId);
    if (cached !== undefined) return cached;
    const services = make(accountId);
    cache.set(accountId, services);
    return services;
  };
}
