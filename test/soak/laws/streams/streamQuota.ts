// Streams and calls of one account whose quota is nearly spent: the charges never exceed it, and nothing is
// refused while messages are left that no call or stream has used or holds.
import assert from 'node:assert/strict';
import { StreamMeter } from '../../../../api/sse/meter.ts';
import { Failure } from '../../../../store/base/failure.ts';
import type { Caller } from '../../../../store/accounts/callers.ts';
import type { Charge, ChargeOrder } from '../../../../store/ledger/metering.ts';
import { findTier } from '../../../../store/accounts/tiers.ts';
import { callerWith, fixture, K } from '../../../store/ledger/ledgerFixture.ts';
import { type Seeded, seeded } from '../../crash/rounds/seeded.ts';

const STEPS = 60;
const WEIGHTS = [1, 1, 7, 100, 1_000] as const;

type Ledger = Awaited<ReturnType<typeof fixture>>['ledger'];

interface Stream {
  readonly meter: StreamMeter;
  readonly weight: number;
  paid: number;
  isOpen: boolean;
}

interface Running {
  readonly hold: ReturnType<Ledger['hold']>;
  readonly order: ChargeOrder;
  readonly most: number;
}

interface Round {
  readonly ledger: Ledger;
  readonly random: Seeded;
  readonly caller: Caller;
  readonly quota: number;
  readonly streams: Stream[];
  readonly running: Running[];
  readonly charges: Charge[];
  /** Messages charged to calls. */
  charged: number;
  refused: number;
}

/** Plays `count` rounds. @returns the numbers of charged messages and refusals */
export async function streamQuotaLaw(count: number, seed: number): Promise<string> {
  let [refused, charged] = [0, 0];
  for (let at = 0; at < count; at += 1) {
    const round = await playRound(seed * 1_000_003 + at);
    refused += round.refused;
    charged += round.charged;
  }
  return `${charged} messages charged to calls, ${refused} refusals`;
}

async function playRound(seed: number): Promise<Round> {
  await using f = await fixture();
  const random = seeded(seed);
  const quota = random.between(0, 12_000);
  const tier = { ...findTier('launch'), messagesMonthly: quota };
  const caller = callerWith({ tier });
  const parts = { streams: [], running: [], charges: [], charged: 0, refused: 0 };
  const round: Round = { ledger: f.ledger, random, caller, quota, ...parts };
  for (let step = 0; step < STEPS; step += 1) {
    act(round, `seed ${seed}, step ${step}`);
    const { used } = f.ledger.balance('a');
    assert.ok(used <= quota, `seed ${seed}, step ${step}: ${used} of ${quota}`);
  }
  for (const { hold } of round.running) f.ledger.release(hold);
  for (const { meter } of round.streams) meter.close();
  for (const charge of round.charges) charge.confirm();
  await f.ledger.flush();
  const streamed = round.streams.reduce((sum, { paid, weight }) => sum + paid * weight, 0);
  const balance = f.ledger.balance('a');
  assert.deepEqual(
    balance,
    { held: 0, used: streamed + round.charged },
    `seed ${seed}: the balance`,
  );
  return round;
}

function act(round: Round, place: string): void {
  const { random } = round;
  const kind = random.between(0, 9);
  if (kind === 0) openStream(round, place);
  else if (kind < 5) pay(round, place);
  else if (kind === 5) endStream(round);
  else if (kind < 8) call(round, place);
  else settle(round, place);
}

/** Messages that are neither used nor held by a running call. */
function restOf({ charged, quota, running, streams }: Round): number {
  const streamed = streams.reduce((sum, { paid, weight }) => sum + paid * weight, 0);
  const heldMessages = running.reduce((sum, { hold }) => sum + hold.messages, 0);
  return quota - charged - streamed - heldMessages;
}

function openStream(round: Round, place: string): void {
  const { caller, ledger, random, streams } = round;
  const weight = random.pick(WEIGHTS);
  const rest = restOf(round);
  const order = { ...K, requestId: `s${streams.length}`, endpoint: 'stream', weight };
  try {
    streams.push({ meter: new StreamMeter(ledger, caller, order), weight, paid: 0, isOpen: true });
  } catch (error) {
    checkRefusal(round, error, rest, weight, place);
  }
}

function pay(round: Round, place: string): void {
  const { random, streams } = round;
  const [first, ...more] = streams.filter(({ isOpen }) => isOpen);
  if (first === undefined) return;
  const stream = random.pick([first, ...more]);
  const messages = random.between(1, 40);
  const rest = restOf(round);
  const paid = stream.meter.pay(messages);
  stream.paid += paid;
  if (random.chance(0.2) && paid === messages) stream.isOpen = stream.meter.renew();
  if (paid === messages) return;
  stream.isOpen = false;
  const covered = Math.floor(rest / stream.weight);
  assert.equal(paid, Math.min(messages, covered), `${place}: ${paid} of ${messages}, ${rest} left`);
}

function endStream({ random, streams }: Round): void {
  const [first, ...more] = streams.filter(({ isOpen }) => isOpen);
  if (first === undefined) return;
  const stream = random.pick([first, ...more]);
  stream.isOpen = false;
  stream.meter.close();
}

function call(round: Round, place: string): void {
  const { caller, ledger, random, running } = round;
  const order = { ...K, requestId: `c${place}`, endpoint: 'call', weight: random.pick(WEIGHTS) };
  const most = random.between(1, 200);
  const least = random.chance(0.5) ? 1 : 0;
  const rest = restOf(round);
  try {
    const hold = ledger.hold(caller, order, most, least);
    running.push({ hold, order, most });
  } catch (error) {
    checkRefusal(round, error, rest, least === 0 ? 1 : order.weight, place);
  }
}

/** Settles a call: its objects are charged if the quota covers them, and otherwise refused. */
function settle(round: Round, place: string): void {
  const { charges, ledger, random, running } = round;
  const one = running.shift();
  if (one === undefined) return;
  const { hold, most, order } = one;
  const objects = random.between(0, most);
  const heldMessages = hold.messages;
  const rest = restOf(round);
  try {
    charges.push(ledger.settle(hold, objects));
    round.charged += objects * order.weight;
  } catch (error) {
    checkRefusal(round, error, rest, objects * order.weight, place);
    assert.ok(objects * order.weight > heldMessages, `${place}: refused within its hold`);
  }
}

function checkRefusal(
  round: Round,
  error: unknown,
  rest: number,
  needed: number,
  place: string,
): void {
  assert.ok(error instanceof Failure && error.type === 'OverLimit', `${place}: ${String(error)}`);
  assert.ok(rest < needed, `${place}: refused ${needed} with ${rest} left: ${error.detail ?? ''}`);
  round.refused += 1;
}
