// Accounts and tokens whose limits change, and the maximum that may be charged to them.
import assert from 'node:assert/strict';
import type { Caller } from '../../../../store/accounts/callers.ts';
import type { Account } from '../../../../store/accounts/accountRows.ts';
import { Failure } from '../../../../store/base/failure.ts';
import type { Seeded } from '../../crash/rounds/seeded.ts';
import { callerWith } from '../../../store/ledger/ledgerFixture.ts';
import type { Ledger } from '../../../../store/ledger/ledger.ts';
import { maxMessages } from '../../../../store/ledger/quota.ts';

/** Time after which a lowered limit or a disabled token is in effect on all nodes. */
const EFFECTIVE_MS = 10_000;

interface Bound {
  readonly fromMs: number;
  readonly most: number;
}

class Bounds {
  readonly #bounds: Bound[] = [];
  highest = 0;

  set(fromMs: number, most: number): void {
    this.#bounds.push({ fromMs, most });
    this.highest = Math.max(this.highest, most);
  }

  /** The highest limit that may still be in effect. */
  at(nowMs: number): number {
    const since = this.#bounds.findLastIndex(({ fromMs }) => fromMs <= nowMs - EFFECTIVE_MS);
    return Math.max(...this.#bounds.slice(Math.max(0, since)).map(({ most }) => most));
  }
}

interface Party {
  own: Partial<Account>;
  suspendedMs: number | undefined;
  /** Time since which its budget or its circuit breaker refuses all calls. */
  stoppedMs: number | undefined;
  readonly bounds: { readonly plain: Bounds; readonly premium: Bounds };
  readonly tokens: readonly Bearer[];
}

export interface Bearer {
  readonly accountId: string;
  readonly tokenId: string;
  disabledMs: number | undefined;
  messageLimit: number | undefined;
  readonly bounds: Bounds;
}

const UNBOUND = Number.MAX_SAFE_INTEGER;

export class Books {
  readonly parties = new Map<string, Party>();
  readonly bearers: Bearer[] = [];
  /** Usage at the last check. */
  readonly #used = new Map<string, number>();

  constructor(random: Seeded) {
    const accounts = random.between(1, 3);
    for (let at = 0; at < accounts; at += 1) this.#add(random, `a${at}`);
  }

  #add(random: Seeded, accountId: string): void {
    const own = {
      payAsYouGo: random.chance(0.6),
      premiumMessages: random.pick([0, 40, 3_000] as const),
      budget: random.pick([undefined, undefined, 30, 400, 5_000, 1_000_000] as const),
      circuitBreaker: random.pick([undefined, 100] as const),
    };
    const tokens = Array.from({ length: random.between(1, 3) }, (_, token) => ({
      accountId,
      tokenId: `${accountId}.${token}`,
      disabledMs: undefined,
      messageLimit: random.pick([undefined, undefined, 50, 700] as const),
      bounds: new Bounds(),
    }));
    const bounds = { plain: new Bounds(), premium: new Bounds() };
    this.parties.set(accountId, {
      own,
      suspendedMs: undefined,
      stoppedMs: undefined,
      bounds,
      tokens,
    });
    this.bearers.push(...tokens);
    for (const token of tokens) token.bounds.set(-Infinity, token.messageLimit ?? UNBOUND);
    this.#bound(accountId, -Infinity);
  }

  /** Finds the caller of a token, even if the token may not act. */
  findCaller(tokenId: string): Caller {
    const bearer = this.bearers.find((one) => one.tokenId === tokenId);
    assert.ok(bearer);
    const { accountId, disabledMs, messageLimit } = bearer;
    const { own } = this.#party(accountId);
    const token = { messageLimit, disabled: disabledMs !== undefined };
    return { ...callerWith({ ...own, accountId }, token), accountId, tokenId };
  }

  active(tokenId: string): Caller {
    const caller = this.findCaller(tokenId);
    if (caller.token.disabled) throw new Failure('DisabledKey');
    if (caller.account.suspended) throw new Failure('Inactive');
    return caller;
  }

  /** Checks that a token with which a reading node spends may act, or might until recently. */
  checkActive(tokenId: string, nowMs: number): void {
    const bearer = this.bearers.find((one) => one.tokenId === tokenId);
    assert.ok(bearer);
    const { stoppedMs, suspendedMs } = this.#party(bearer.accountId);
    for (const ms of [bearer.disabledMs, suspendedMs, stoppedMs]) {
      const forMs = nowMs - (ms ?? nowMs);
      assert.ok(forMs <= EFFECTIVE_MS, `spent ${forMs} ms after its token could not act any more`);
    }
  }

  /** Changes a random limit or right. */
  change(random: Seeded, nowMs: number): void {
    const bearer = random.pick(this.bearers as [Bearer, ...Bearer[]]);
    const party = this.#party(bearer.accountId);
    const dice = random.between(0, 4);
    if (dice === 0) {
      bearer.disabledMs = bearer.disabledMs === undefined ? nowMs : undefined;
    } else if (dice === 1) {
      bearer.messageLimit = random.pick([undefined, 20, 300, 900] as const);
      bearer.bounds.set(nowMs, bearer.messageLimit ?? UNBOUND);
    } else if (dice === 2) {
      party.own = { ...party.own, budget: random.pick([undefined, 25, 350, 4_000] as const) };
      this.#bound(bearer.accountId, nowMs);
    } else if (dice === 3) {
      party.suspendedMs = party.suspendedMs === undefined ? nowMs : undefined;
      party.own = { ...party.own, suspended: party.suspendedMs !== undefined };
    } else {
      party.own = { ...party.own, payAsYouGo: random.chance(0.5) };
      this.#bound(bearer.accountId, nowMs);
    }
  }

  /**
   * Checks that no usage exceeds a bound that was recently in force.
   * @param isNew the ledger was just opened from the catalog
   */
  check(ledger: Ledger, nowMs: number, isNew = false): void {
    const grows = (what: string, used: number, bounds: Bounds): void => {
      const name = `${what} of ${ledger.month}`;
      const before = this.#used.get(name) ?? 0;
      this.#used.set(name, used);
      const most = isNew ? UNBOUND : bounds.at(nowMs);
      assert.ok(used <= before || used <= most, `${name}: ${used} used of ${most}`);
    };
    for (const [accountId, party] of this.parties) {
      const { bounds, tokens } = party;
      const isStopped = ledger.findStop(this.findCaller(tokens[0]?.tokenId ?? '')) !== undefined;
      party.stoppedMs = isStopped ? (party.stoppedMs ?? nowMs) : undefined;
      grows(accountId, ledger.balance(accountId).used, bounds.plain);
      grows(`premium of ${accountId}`, ledger.premiumBalance(accountId).used, bounds.premium);
      for (const token of tokens) {
        grows(token.tokenId, ledger.allowance(this.findCaller(token.tokenId)).used, token.bounds);
      }
    }
  }

  #bound(accountId: string, nowMs: number): void {
    const { bounds, tokens } = this.#party(accountId);
    const { account } = this.findCaller(tokens[0]?.tokenId ?? '');
    bounds.plain.set(nowMs, maxMessages(account, false));
    bounds.premium.set(nowMs, maxMessages(account, true));
  }

  #party(accountId: string): Party {
    const party = this.parties.get(accountId);
    assert.ok(party);
    return party;
  }
}
