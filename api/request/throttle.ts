// Requests that come too fast: 429, and when to come again (SPEC.md "Limits").
import { isIPv6 } from 'node:net';
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Permits } from '../../store/ledger/leases/lessor.ts';
import { makeRateLimiter } from './rateLimit.ts';

/** Production, or the test environment with its own port and tokens (SPEC.md "Authentication" 3). */
export type Environment = 'production' | 'test';

/** Requests of one address in a second, and as many at once. */
const ADDRESS_RATE: Readonly<Record<Environment, number>> = { production: 100, test: 10 };

export interface Throttle {
  /** @throws Failure TooManyRequests */
  address(address: string): void;
  /** @throws Failure TooManyRequests */
  token(caller: Caller): void;
  /** Requests that another node may take, of the same limits. */
  readonly permits: Permits;
}

const OPEN: Throttle = {
  address: () => undefined,
  token: () => undefined,
  permits: { address: (_address, most) => most, token: (_caller, most) => most },
};

/** One caller has a whole /64 of IPv6: its addresses count as one. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('::');
  const [left, right] = [head, tail].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array.from({ length: 8 - (left?.length ?? 0) - (right?.length ?? 0) }, () => '0');
  const groups = address.includes('::') ? [...(left ?? []), ...zeros, ...(right ?? [])] : left;
  return (groups ?? []).slice(0, 4).join(':');
}

/** `clockMs` never goes back. */
export function makeThrottle(
  on: boolean,
  environment: Environment,
  clockMs: () => number,
): Throttle {
  if (!on) return OPEN;
  const limiter = makeRateLimiter(clockMs);
  const take = (key: string, rate: number): void => {
    const waitMs = limiter.take(key, rate, rate);
    if (waitMs > 0) throw new Failure('TooManyRequests', undefined, waitMs);
  };
  /** At most one of `parts` of the rate, but 1: so others find some too. */
  const some = (key: string, rate: number, most: number, parts: number): number =>
    limiter.takeUpTo(key, rate, rate, Math.min(most, Math.max(1, Math.floor(rate / parts))));
  return {
    permits: {
      address: (address, most, parts) =>
        some(`address ${networkOf(address)}`, ADDRESS_RATE[environment], most, parts),
      token: ({ tier, tokenId }, most, parts) =>
        some(`token ${tokenId}`, tier.requestsPerSecond, most, parts),
    },
    address: (address) => take(`address ${networkOf(address)}`, ADDRESS_RATE[environment]),
    token: ({ tokenId, tier }) => take(`token ${tokenId}`, tier.requestsPerSecond),
  };
}
