// The services as one account uses them: what it asks of DuckDB waits in its own line.
import { LruMap } from 'toad-cache';
import type { Services } from '../request/endpoint.ts';

/** Accounts whose services are kept; others are made again, which costs a microsecond. */
const ACCOUNTS_MAX = 1_000;

export const withSqlOf = <Some extends Pick<Services, 'sql'>>(
  services: Some,
  accountId: string,
): Some => ({ ...services, sql: { ...services.sql, pool: services.sql.pool.of(accountId) } });

/** The same of reads of series too. */
export const withPoolsOf = <Some extends Pick<Services, 'series' | 'sql'>>(
  services: Some,
  accountId: string,
): Some => {
  const { series } = services;
  return {
    ...withSqlOf(services, accountId),
    series: { ...series, pool: series.pool.of(accountId) },
  };
};

/** And of loads: all that an account uses. */
export function withAllOf(services: Services, accountId: string): Services {
  const { ingestion } = services;
  return {
    ...withPoolsOf(services, accountId),
    ingestion: { ...ingestion, pool: ingestion.pool.of(accountId) },
  };
}

/** The same for many accounts, made once for each. */
export function accountServices<S extends object>(
  make: (accountId: string) => S,
): (accountId: string) => S {
  const known = new LruMap<S>(ACCOUNTS_MAX);
  return (accountId) => {
    const found = known.get(accountId);
    if (found !== undefined) return found;
    const made = make(accountId);
    known.set(accountId, made);
    return made;
  };
}
