// Refuses requests above the rate limits with 429 and the time to retry (SPEC.md "Limits").
import { isIPv6 } from 'node:net';
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure } from '../../store/base/failure.ts';
import type { RateLimits } from '../../store/ledger/leases/quotaLessor.ts';
import type { Environment } from '../../reads/request/readRequest.ts';
import { makeRateLimiter } from './rateLimit.ts';

/** Requests of one address per second, and its burst. */
const ADDRESS_RATE: Readonly<Record<Environment, number>> = { production: 100, test: 10 };

export interface Throttle {
  /** @throws Failure TooManyRequests */
  address(address: string): void;
  /** @throws Failure TooManyRequests */
  token(caller: Caller): void;
  /** Grants requests of the same limits to other nodes. */
  readonly permits: RateLimits;
}

const UNLIMITED: Throttle = {
  address: () => undefined,
  token: () => undefined,
  permits: { address: (_address, most) => most, token: (_caller, most) => most },
};

/** The network of an address: one caller has a whole /64 of IPv6, so its addresses count as one. */
function toNetwork(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('::');
  const [left, right] = [head, tail].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array.from({ length: 8 - (left?.length ?? 0) - (right?.length ?? 0) }, () => '0');
  const groups = address.includes('::') ? [...(left ?? []), ...zeros, ...(right ?? [])] : left;
  return (groups ?? []).slice(0, 4).join(':');
}

/** @param clockMs a monotonic clock */
export function makeThrottle(
  on: boolean,
  environment: Environment,
  clockMs: () => number,
): Throttle {
  if (!on) return UNLIMITED;
  const limiter = makeRateLimiter(clockMs);
  const take = (key: string, rate: number): void => {
    const waitMs = limiter.take(key, rate, rate);
    if (waitMs > 0) throw new Failure('TooManyRequests', undefined, waitMs);
  };
  /** Takes at most one of `parts` shares of the rate, at least 1, so that some remains for others. */
  const takeShare = (key: string, rate: number, most: number, parts: number): number =>
    limiter.takeUpTo(key, rate, rate, Math.min(most, Math.max(1, Math.floor(rate / parts))));
  return {
    permits: {
      address: (address, most, parts) =>
        takeShare(`address ${toNetwork(address)}`, ADDRESS_RATE[environment], most, parts),
      token: ({ tier, tokenId }, most, parts) =>
        takeShare(`token ${tokenId}`, tier.requestsPerSecond, most, parts),
    },
    address: (address) => take(`address ${toNetwork(address)}`, ADDRESS_RATE[environment]),
    token: ({ tokenId, tier }) => take(`token ${tokenId}`, tier.requestsPerSecond),
  };
}
