// Limits under the clock of the test: the number of allowed requests is exact to the millisecond.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { KEYS_MAX, makeRateLimiter, type RateLimiter } from '../../../api/request/rateLimit.ts';
import { makeThrottle } from '../../../api/request/throttle.ts';
import { caller } from '../../store/ledger/ledgerFixture.ts';
import { seedsOf } from '../../base/seeds.ts';

const RUNS = 500;

interface LimiterWorld {
  readonly limiter: RateLimiter;
  /** Moves the clock, also back. */
  readonly pass: (ms: number) => void;
}

function createClock(startMs = 1_700_000_000_000): LimiterWorld {
  let nowMs = startMs;
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { limiter: makeRateLimiter(() => nowMs), pass };
}

/** The number of allowed ones among concurrent requests. */
const allowedOf = (
  { limiter }: LimiterWorld,
  requestCount: number,
  perSecond: number,
  burst: number,
): number =>
  Array.from({ length: requestCount }, () => limiter.take('a', perSecond, burst)).filter(
    (ms) => ms === 0,
  ).length;

describe('one key', () => {
  test('a burst, then one request every 10 ms', () => {
    const clock = createClock();
    assert.equal(allowedOf(clock, 500, 100, 20), 20);
    for (let ms = 10; ms <= 1000; ms += 10) {
      clock.pass(9);
      assert.equal(clock.limiter.take('a', 100, 20), 1, `at ${ms - 1} ms`);
      clock.pass(1);
      assert.equal(allowedOf(clock, 5, 100, 20), 1, `at ${ms} ms`);
    }
  });

  test('a burst of 1 is the strictest spacing', () => {
    const clock = createClock();
    assert.equal(clock.limiter.take('a', 10, 1), 0);
    assert.equal(clock.limiter.take('a', 10, 1), 100);
    clock.pass(99);
    assert.equal(clock.limiter.take('a', 10, 1), 1);
    clock.pass(1);
    assert.equal(clock.limiter.take('a', 10, 1), 0);
  });

  test('an idle time restores the burst and no more', () => {
    const clock = createClock();
    assert.equal(allowedOf(clock, 100, 100, 20), 20);
    clock.pass(86_400_000);
    assert.equal(allowedOf(clock, 100, 100, 20), 20);
  });

  test('a group of requests takes from the same burst and rate, as many as are left', () => {
    const { limiter, pass } = createClock();
    assert.equal(limiter.takeUpTo('a', 100, 20, 15), 15);
    assert.equal(limiter.takeUpTo('a', 100, 20, 15), 5);
    assert.equal(limiter.takeUpTo('a', 100, 20, 15), 0);
    assert.equal(limiter.take('a', 100, 20), 10);
    pass(39);
    assert.equal(limiter.takeUpTo('a', 100, 20, 15), 3);
    pass(1);
    assert.equal(limiter.take('a', 100, 20), 0);
    assert.equal(limiter.takeUpTo('a', 100, 20, 15), 0);
  });

  test('refused requests take nothing', () => {
    const clock = createClock();
    assert.equal(allowedOf(clock, 10_000, 10, 3), 3);
    clock.pass(100);
    assert.equal(clock.limiter.take('a', 10, 3), 0);
  });

  test('the wait is rounded up to whole milliseconds', () => {
    const clock = createClock();
    assert.equal(clock.limiter.take('a', 3000, 1), 0);
    assert.equal(clock.limiter.take('a', 3000, 1), 1);
    assert.equal(clock.limiter.take('b', 3, 1), 0);
    assert.equal(clock.limiter.take('b', 3, 1), 334);
  });

  test('a tier may change between two calls', () => {
    const clock = createClock();
    assert.equal(allowedOf(clock, 100, 10, 10), 10);
    assert.equal(allowedOf(clock, 100, 100, 30), 20);
    clock.pass(50);
    assert.equal(allowedOf(clock, 100, 100, 30), 5);
    assert.equal(clock.limiter.take('a', 10, 10), 2_100);
  });

  test('a clock that is set back gives no requests, and locks nobody out', () => {
    const clock = createClock();
    assert.equal(allowedOf(clock, 100, 100, 20), 20);
    clock.pass(-3_600_000);
    assert.equal(clock.limiter.take('a', 100, 20), 10);
    clock.pass(10);
    assert.equal(clock.limiter.take('a', 100, 20), 0);
  });

  test('a clock with fractions of milliseconds', () => {
    const clock = createClock(0.1);
    assert.equal(clock.limiter.take('a', 100, 1), 0);
    clock.pass(9.3);
    assert.equal(clock.limiter.take('a', 100, 1), 1);
    clock.pass(1);
    assert.equal(clock.limiter.take('a', 100, 1), 0);
  });
});

describe('any schedule', () => {
  interface Schedule {
    readonly perSecond: number;
    readonly burst: number;
    readonly gapsMs: readonly number[];
  }
  const schedules = fc.record({
    perSecond: fc.integer({ min: 1, max: 2_000 }),
    burst: fc.integer({ min: 1, max: 50 }),
    gapsMs: fc.array(fc.oneof(fc.constant(0), fc.nat(30), fc.nat(3_000)), { maxLength: 200 }),
  });

  /** By definition, no window that ends now may hold more than burst + rate x its length. */
  const fits = (allowedMs: readonly number[], nowMs: number, { perSecond, burst }: Schedule) =>
    allowedMs.every(
      (fromMs, index) =>
        (allowedMs.length - index + 1) * 1000 <= burst * 1000 + perSecond * (nowMs - fromMs),
    );

  function follow(schedule: Schedule): void {
    const clock = createClock(0);
    const allowedMs: number[] = [];
    let nowMs = 0;
    for (const gapMs of schedule.gapsMs) {
      clock.pass(gapMs);
      nowMs += gapMs;
      const waitMs = clock.limiter.take('a', schedule.perSecond, schedule.burst);
      assert.equal(waitMs === 0, fits(allowedMs, nowMs, schedule), `at ${nowMs} ms`);
      if (waitMs === 0) allowedMs.push(nowMs);
      else {
        assert.ok(Number.isInteger(waitMs) && waitMs >= 1);
        assert.ok(fits(allowedMs, nowMs + waitMs, schedule), 'after waiting it is allowed');
        assert.ok(!fits(allowedMs, nowMs + waitMs - 1, schedule), 'one millisecond less is not');
      }
    }
  }

  test('the limiter matches the definition', (t) => {
    for (const seed of seedsOf(t)) {
      fc.assert(fc.property(schedules, follow), { seed, numRuns: RUNS });
    }
  });
});

describe('many keys', () => {
  test('keys do not share a limit', () => {
    const { limiter } = createClock();
    assert.equal(limiter.take('ip:192.0.2.1', 10, 1), 0);
    assert.equal(limiter.take('ip:192.0.2.2', 10, 1), 0);
    assert.equal(limiter.take('ip:192.0.2.1', 10, 1), 100);
  });

  test(`${KEYS_MAX} keys are cached, and the least recently used one is evicted`, () => {
    const { limiter } = createClock();
    const take = (index: number): number => limiter.take(`key ${index}`, 10, 1);
    for (let index = 0; index < KEYS_MAX; index += 1) assert.equal(take(index), 0);
    // A refused request counts as use: a key that keeps trying is not evicted.
    assert.equal(take(0), 100);
    assert.equal(take(KEYS_MAX), 0, 'one too many: key 1 is evicted');
    assert.equal(take(0), 100);
    assert.equal(take(2), 100);
    assert.equal(take(KEYS_MAX), 100);
    assert.equal(take(1), 0);
  });
});

test('another node gets a part of the permits of a network and of a token', () => {
  const throttle = makeThrottle(true, 'test', () => 0);
  const { permits } = throttle;
  assert.equal(permits.address('2001:db8::1', 9, 4), 2);
  assert.equal(permits.address('2001:db8::2', 9, 100), 1, 'one at least, of the same network');
  for (let at = 0; at < 7; at += 1) throttle.address('2001:db8::3');
  assert.equal(permits.address('2001:db8::4', 9, 1), 0);
  assert.throws(() => throttle.address('2001:db8::5'), { type: 'TooManyRequests' });
  const { requestsPerSecond } = caller.tier;
  assert.equal(permits.token(caller, 1e9, 2), requestsPerSecond / 2);
  assert.equal(permits.token(caller, 3, 2), 3);
  const open = makeThrottle(false, 'test', () => 0);
  assert.equal(open.permits.address('192.0.2.1', 1e6, 4), 1e6, 'no limits are on');
});
