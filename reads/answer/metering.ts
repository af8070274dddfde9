// Meters a call: holds its upper bound, runs it, settles the returned objects; or returns only its price. A
// call that costs more than its caller allowed, or that fails, is free. A call over data of others that the
// caller made fail costs its minimum, because the failure reveals data too. The last messages are spent on
// answers only.
import { Type } from '../request/schema.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure, type FailureType, UnchargedFailure } from '../../store/base/failure.ts';
import type { Charge, ChargeOrder, Hold, Metering } from '../../store/ledger/metering.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { ReadServices } from '../request/readServices.ts';
import { numberOf, type Parameter, truthOf } from '../request/parameters.ts';

interface MeteringServices extends Pick<ReadServices, 'settings'> {
  readonly ledger: Metering;
}

/** Query parameters of every metered call. */
export const METERING_PARAMETERS: readonly Parameter[] = [
  {
    kind: 'boolean',
    name: 'estimate',
    help: 'Return only the price: messages, objects and weight; over the data of others, an upper bound.',
  },
  {
    kind: 'integer',
    name: 'maxMessages',
    least: 0,
    most: 1_000_000_000_000,
    help: 'The most that the call may cost; a call that would cost more is refused with 402, free of charge.',
  },
];

export type Metered<T> =
  | { readonly kind: 'charged'; readonly result: T; readonly charge: Charge }
  | { readonly kind: 'estimate'; readonly price: Price }
  /** HEAD: nothing was read. */
  | { readonly kind: 'unread' };

/** The price of a call in messages by kind, with objects and weight. */
export interface Price {
  readonly messages: number;
  readonly premiumMessages: number;
  readonly objects: number;
  readonly weight: number;
}

/** The schema of an answer to `estimate`. */
export const PRICE = Type.Object({
  messages: Type.Integer(),
  premiumMessages: Type.Integer(),
  objects: Type.Integer(),
  weight: Type.Integer(),
});

/** The price bounds of a call for one dataset, in objects. */
export interface Fare {
  readonly order: ChargeOrder;
  /** The upper bound; may be far more than the dataset has. */
  readonly most: number;
  /** Over data of others the charge of a failed call; 0 over own data. */
  readonly least: number;
  /** Over data of others the upper bound by the catalog's statistics, which may be shown free of charge. */
  readonly upperBound?: (() => number) | undefined;
  /** Counts the records behind an aggregated answer, after it was read. */
  readonly counted?: (() => Promise<number>) | undefined;
}

/** A failure with a charge: it read data of others. */
export class PaidFailure extends Failure {
  readonly charge: Charge;

  constructor({ detail, type }: Failure, charge: Charge) {
    super(type, detail);
    this.charge = charge;
  }
}

/**
 * Runs a call for `caller` and charges the returned objects, or the number that `price` computes from them.
 * @throws Failure OverLimit, CircuitBreaker, PriceTooHigh; a failure of `run` is free, or a PaidFailure.
 */
export async function meterCall<T extends { readonly objects: number }>(
  call: ReadRequest,
  services: MeteringServices,
  caller: Caller,
  fare: Fare & { readonly price?: (result: T) => number },
  run: () => Promise<T>,
): Promise<Metered<T>> {
  if (call.bodiless) return { kind: 'unread' };
  const { stages } = call;
  stages.mark('plan');
  const { ledger } = services;
  const { least, most, order, upperBound } = fare;
  const isEstimate = truthOf(call.query, 'estimate');
  const allowed = numberOf(call.query, 'maxMessages');
  if (upperBound !== undefined && (isEstimate || allowed !== undefined)) {
    const price = sumPrices([{ order, objects: Math.min(most, upperBound()) }]);
    if (isEstimate) return { kind: 'estimate', price };
    refusePrice(price, allowed, 'may cost');
  }
  if (isEstimate) {
    const objects = await countObjects(await run(), fare);
    return { kind: 'estimate', price: sumPrices([{ order, objects }]) };
  }
  const refuseOverAllowed = (objects: number): void => {
    if (upperBound === undefined) refusePrice(sumPrices([{ order, objects }]), allowed, 'costs');
  };
  if (isFree(call, services)) {
    const result = await run();
    stages.mark('run');
    const objects = await countObjects(result, fare);
    refuseOverAllowed(objects);
    return { kind: 'charged', result, charge: uncharged(call, [{ order, objects }]) };
  }
  const waitForRoom = ledger.waitForRoom(caller, order, most, least);
  if (waitForRoom !== undefined) await waitForRoom;
  const hold = holdFare(ledger, caller, fare);
  stages.mark('hold');
  try {
    const result = await run();
    stages.mark('run');
    const isPlain = fare.counted === undefined && fare.price === undefined;
    // Reads from memory skip the extra await.
    const objects = isPlain ? result.objects : await countObjects(result, fare);
    refuseOverAllowed(objects);
    const waitForMore = waitForExcess(ledger, caller, hold, objects);
    if (waitForMore !== undefined) await waitForMore;
    const charge = ledger.settle(hold, objects);
    stages.mark('settle');
    return { kind: 'charged', result, charge };
  } catch (error) {
    ledger.release(hold);
    throw toPaidFailure(error, services, caller, [fare]);
  }
}

/**
 * Holds the upper bound of a call. A refusal after a read costs the minimum of its call, but must not consume
 * the last messages: in that case the balance has to cover the catalog's bound, or nothing is read.
 * @throws Failure OverLimit or CircuitBreaker, free of charge.
 */
function holdFare(
  ledger: Metering,
  caller: Caller,
  { least, most, order, upperBound }: Omit<Fare, 'counted'>,
): Hold {
  const hold = ledger.hold(caller, order, most, least);
  const { weight } = hold.order;
  const leavesSome = hold.messages >= 2 * least * weight;
  if (upperBound === undefined || leavesSome || hold.messages >= most * weight) return hold;
  ledger.release(hold);
  const bound = upperBound();
  return ledger.hold(caller, order, bound, bound);
}

/** Waits for room if a call costs more than was held because less was left than its upper bound. */
function waitForExcess(
  ledger: Metering,
  caller: Caller,
  { messages, order }: Hold,
  objects: number,
): Promise<void> | undefined {
  const beyond = objects * order.weight - messages;
  return beyond > 0 ? ledger.waitForRoom(caller, { ...order, weight: 1 }, beyond) : undefined;
}

async function countObjects<T extends { readonly objects: number }>(
  result: T,
  { counted, price }: Fare & { readonly price?: (result: T) => number },
): Promise<number> {
  const objects = price === undefined ? result.objects : price(result);
  return counted === undefined ? objects : Math.max(objects, await counted());
}

const isFree = (
  { environment }: ReadRequest,
  { settings }: Pick<ReadServices, 'settings'>,
): boolean => !settings.metering || environment === 'test';

/**
 * Meters a call that charges for several datasets: all of them or none.
 * @param run returns the objects of each fare too
 */
export async function meterTogether<T>(
  call: ReadRequest,
  services: MeteringServices,
  caller: Caller,
  fares: readonly Fare[],
  run: () => Promise<{ readonly result: T; readonly objects: readonly number[] }>,
): Promise<Exclude<Metered<T>, { kind: 'estimate' }>> {
  if (call.bodiless) return { kind: 'unread' };
  const { stages } = call;
  stages.mark('plan');
  const { ledger } = services;
  const priced = (objects: readonly number[]): readonly Priced[] =>
    fares.map(({ order }, at) => ({ order, objects: objects[at] ?? 0 }));
  if (isFree(call, services)) {
    const { objects, result } = await run();
    stages.mark('run');
    return { kind: 'charged', result, charge: uncharged(call, priced(objects)) };
  }
  const holds: Hold[] = [];
  const charges: Charge[] = [];
  try {
    for (const fare of fares) {
      const waitForRoom = ledger.waitForRoom(caller, fare.order, fare.most, fare.least);
      if (waitForRoom !== undefined) await waitForRoom;
      holds.push(holdFare(ledger, caller, fare));
    }
    stages.mark('hold');
    const { objects, result } = await run();
    stages.mark('run');
    for (const [at, hold] of holds.entries()) {
      const waitForMore = waitForExcess(ledger, caller, hold, objects[at] ?? 0);
      if (waitForMore !== undefined) await waitForMore;
      charges.push(ledger.settle(hold, objects[at] ?? 0));
    }
    stages.mark('settle');
    return { kind: 'charged', result, charge: sumCharges(charges) };
  } catch (error) {
    for (const charge of charges) charge.cancel();
    for (const hold of holds) ledger.release(hold);
    throw holds.length < fares.length ? error : toPaidFailure(error, services, caller, fares);
  }
}

/** Failures that a caller can cause, and that could reveal data. */
const CALLER_FAILURES: ReadonlySet<FailureType> = new Set<FailureType>([
  'InvalidParameter',
  'TooLarge',
  'TimedOut',
  'OverLimit',
  'CircuitBreaker',
] as const);

/**
 * Adds the charge to a failure of a call that had begun to read.
 * @param fares held until now: the released messages are still available
 */
export function toPaidFailure(
  error: unknown,
  services: MeteringServices,
  caller: Caller,
  fares: readonly Pick<Fare, 'order' | 'least'>[],
): unknown {
  if (!(error instanceof Failure) || !CALLER_FAILURES.has(error.type)) return error;
  if (error instanceof UnchargedFailure || !services.settings.metering) return error;
  const before = error instanceof PaidFailure ? [error.charge] : [];
  const charges = fares.flatMap(({ least, order }) => {
    if (least * order.weight === 0) return [];
    const { ledger } = services;
    return [ledger.settle(ledger.hold(caller, order, least), least)];
  });
  if (charges.length === 0) return error;
  return new PaidFailure(error, sumCharges([...before, ...charges]));
}

/** Adds several charges up to one. */
export const sumCharges = (charges: readonly Charge[]): Charge => ({
  messages: charges.reduce((sum, { messages }) => sum + messages, 0),
  premium: charges.reduce((sum, { premium }) => sum + premium, 0),
  confirm: () => charges.forEach((charge) => charge.confirm()),
  cancel: () => charges.forEach((charge) => charge.cancel()),
});

interface Priced {
  readonly order: ChargeOrder;
  readonly objects: number;
}

/** Adds prices up, with the highest weight. */
export function sumPrices(parts: readonly Priced[]): Price {
  let [messages, premiumMessages, objects, weight] = [0, 0, 0, 0];
  for (const { objects: count, order } of parts) {
    if (order.premium) premiumMessages += count * order.weight;
    else messages += count * order.weight;
    objects += count;
    weight = Math.max(weight, order.weight);
  }
  return { messages, premiumMessages, objects, weight };
}

/** The refusal of a call that costs more than was allowed; undefined if it does not. */
export function buildPriceRefusal(
  { messages, objects, premiumMessages, weight }: Price,
  most: number | undefined,
  verb: string,
): Failure | undefined {
  const all = messages + premiumMessages;
  if (most === undefined || all <= most) return undefined;
  const objectsText = `${objects} ${objects === 1 ? 'object' : 'objects'} of weight ${weight}`;
  const price = `${all} messages: ${objectsText}`;
  return new Failure('PriceTooHigh', `"maxMessages" is ${most}, and the call ${verb} ${price}`);
}

/** @throws Failure PriceTooHigh */
function refusePrice(price: Price, most: number | undefined, verb: string): void {
  const refusal = buildPriceRefusal(price, most, verb);
  if (refusal !== undefined) throw refusal;
}

/** Builds a free charge: the test environment reports the price, a server without metering 0. */
function uncharged({ environment }: ReadRequest, parts: readonly Priced[]): Charge {
  const price = environment === 'test' ? sumPrices(parts) : { messages: 0, premiumMessages: 0 };
  const ignore = (): void => undefined;
  const { messages, premiumMessages: premium } = price;
  return { messages, premium, confirm: ignore, cancel: ignore };
}
