// A metered call, whatever it runs: hold its upper bound, run, settle what it returned; or only
// tell its price. Nothing is spent on a call that costs more than its caller allowed, nor on one that
// fails; but one that read data of others and failed by its caller's doing costs its least: that it
// failed tells of them too. The last messages are spent on answers only.
import { Type } from '../request/body/schema.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { Failure, type FailureType, NothingRead } from '../../store/base/failure.ts';
import type { Charge, ChargeOrder, Hold, Metering } from '../../store/ledger/metering.ts';
import type { Call, Services } from '../request/endpoint.ts';
import { numberOf, type Parameter, truthOf } from '../request/parameters.ts';

interface MeteringServices extends Pick<Services, 'settings'> {
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
  /** HEAD: nothing was read, so that nothing of it can show. */
  | { readonly kind: 'unread' };

/** What a call costs, in messages of its kinds, and why. */
export interface Price {
  readonly messages: number;
  readonly premiumMessages: number;
  readonly objects: number;
  readonly weight: number;
}

/** Of an answer to `estimate`. */
export const PRICE = Type.Object({
  messages: Type.Integer(),
  premiumMessages: Type.Integer(),
  objects: Type.Integer(),
  weight: Type.Integer(),
});

/** What a call pays for one dataset, in objects. */
export interface Fare {
  readonly order: ChargeOrder;
  /** The most that it can be; may be far more than there is. */
  readonly most: number;
  /** Over data of others: what it costs also when it fails; 0 over one's own. */
  readonly least: number;
  /** Over data of others: the most that the catalog's statistics leave, which may be shown free of charge. */
  readonly told?: (() => number) | undefined;
  /** What the answer is made of, where that is not what it has; after it was read. */
  readonly counted?: (() => Promise<number>) | undefined;
}

/** A failure that costs: it read data of others. */
export class PaidFailure extends Failure {
  readonly charge: Charge;

  constructor({ detail, type }: Failure, charge: Charge) {
    super(type, detail);
    this.charge = charge;
  }
}

/**
 * Runs a call for `caller` and charges the objects that it returned, or what `price` makes of them.
 * @throws Failure OverLimit, CircuitBreaker, PriceTooHigh, and what `run` throws: then it is free, or
 * a PaidFailure.
 */
export async function metered<T extends { readonly objects: number }>(
  call: Call,
  services: MeteringServices,
  caller: Caller,
  fare: Fare & { readonly price?: (result: T) => number },
  run: () => Promise<T>,
): Promise<Metered<T>> {
  if (call.bodiless) return { kind: 'unread' };
  const { ledger } = services;
  const { least, most, order, told } = fare;
  const priced = truthOf(call.query, 'estimate');
  const allowed = numberOf(call.query, 'maxMessages');
  if (told !== undefined && (priced || allowed !== undefined)) {
    const price = priceOf([{ order, objects: Math.min(most, told()) }]);
    if (priced) return { kind: 'estimate', price };
    refuseDear(price, allowed, 'may cost');
  }
  if (priced) {
    const objects = await objectsOf(await run(), fare);
    return { kind: 'estimate', price: priceOf([{ order, objects }]) };
  }
  const refuseOwn = (objects: number): void => {
    if (told === undefined) refuseDear(priceOf([{ order, objects }]), allowed, 'costs');
  };
  if (isFree(call, services)) {
    const result = await run();
    const objects = await objectsOf(result, fare);
    refuseOwn(objects);
    return { kind: 'charged', result, charge: uncharged(call, [{ order, objects }]) };
  }
  const room = ledger.waitForRoom(caller, order, most, least);
  if (room !== undefined) await room;
  const hold = holdFor(ledger, caller, fare);
  try {
    const result = await run();
    const isPlain = fare.counted === undefined && fare.price === undefined;
    // Reads of memory wait for nothing else.
    const objects = isPlain ? result.objects : await objectsOf(result, fare);
    refuseOwn(objects);
    const more = roomBeyond(ledger, caller, hold, objects);
    if (more !== undefined) await more;
    return { kind: 'charged', result, charge: ledger.settle(hold, objects) };
  } catch (error) {
    ledger.release(hold);
    throw paidFailure(error, services, caller, [fare]);
  }
}

/**
 * A refusal after a read costs the least of its call. It may not take the last messages: where it would, they
 * have to cover the bound that the catalog tells, or nothing is read.
 * @throws Failure OverLimit or CircuitBreaker, free of charge.
 */
function holdFor(
  ledger: Metering,
  caller: Caller,
  { least, most, order, told }: Omit<Fare, 'counted'>,
): Hold {
  const hold = ledger.hold(caller, order, most, least);
  const { weight } = hold.order;
  const leavesSome = hold.messages >= 2 * least * weight;
  if (told === undefined || leavesSome || hold.messages >= most * weight) return hold;
  ledger.release(hold);
  const bound = told();
  return ledger.hold(caller, order, bound, bound);
}

/** Where less was left than a call could cost, and it costs more than was held: as before a hold. */
function roomBeyond(
  ledger: Metering,
  caller: Caller,
  { messages, order }: Hold,
  objects: number,
): Promise<void> | undefined {
  const beyond = objects * order.weight - messages;
  return beyond > 0 ? ledger.waitForRoom(caller, { ...order, weight: 1 }, beyond) : undefined;
}

async function objectsOf<T extends { readonly objects: number }>(
  result: T,
  { counted, price }: Fare & { readonly price?: (result: T) => number },
): Promise<number> {
  const objects = price === undefined ? result.objects : price(result);
  return counted === undefined ? objects : Math.max(objects, await counted());
}

const isFree = ({ environment }: Call, { settings }: Pick<Services, 'settings'>): boolean =>
  !settings.metering || environment === 'test';

/**
 * The same for a call that pays for several datasets: all of them or none.
 * @param run answers the objects of each fare too
 */
export async function meteredTogether<T>(
  call: Call,
  services: MeteringServices,
  caller: Caller,
  fares: readonly Fare[],
  run: () => Promise<{ readonly result: T; readonly objects: readonly number[] }>,
): Promise<Exclude<Metered<T>, { kind: 'estimate' }>> {
  if (call.bodiless) return { kind: 'unread' };
  const { ledger } = services;
  const priced = (objects: readonly number[]): readonly Priced[] =>
    fares.map(({ order }, at) => ({ order, objects: objects[at] ?? 0 }));
  if (isFree(call, services)) {
    const { objects, result } = await run();
    return { kind: 'charged', result, charge: uncharged(call, priced(objects)) };
  }
  const holds: Hold[] = [];
  const charges: Charge[] = [];
  try {
    for (const fare of fares) {
      const room = ledger.waitForRoom(caller, fare.order, fare.most, fare.least);
      if (room !== undefined) await room;
      holds.push(holdFor(ledger, caller, fare));
    }
    const { objects, result } = await run();
    for (const [at, hold] of holds.entries()) {
      const more = roomBeyond(ledger, caller, hold, objects[at] ?? 0);
      if (more !== undefined) await more;
      charges.push(ledger.settle(hold, objects[at] ?? 0));
    }
    return { kind: 'charged', result, charge: summed(charges) };
  } catch (error) {
    for (const charge of charges) charge.undelivered();
    for (const hold of holds) ledger.release(hold);
    throw holds.length < fares.length ? error : paidFailure(error, services, caller, fares);
  }
}

/** What its caller can bring about, and what could tell it something. */
const CALLERS_DOING: ReadonlySet<FailureType> = new Set<FailureType>([
  'InvalidParameter',
  'TooLarge',
  'TimedOut',
  'OverLimit',
  'CircuitBreaker',
] as const);

/**
 * A failure of a call that had begun to read, with what it costs.
 * @param fares that were held until now: what was released is there yet
 */
export function paidFailure(
  error: unknown,
  services: MeteringServices,
  caller: Caller,
  fares: readonly Pick<Fare, 'order' | 'least'>[],
): unknown {
  if (!(error instanceof Failure) || !CALLERS_DOING.has(error.type)) return error;
  if (error instanceof NothingRead || !services.settings.metering) return error;
  const before = error instanceof PaidFailure ? [error.charge] : [];
  const charges = fares.flatMap(({ least, order }) => {
    if (least * order.weight === 0) return [];
    const { ledger } = services;
    return [ledger.settle(ledger.hold(caller, order, least), least)];
  });
  if (charges.length === 0) return error;
  return new PaidFailure(error, summed([...before, ...charges]));
}

/** Several charges as one. */
export const summed = (charges: readonly Charge[]): Charge => ({
  messages: charges.reduce((sum, { messages }) => sum + messages, 0),
  premium: charges.reduce((sum, { premium }) => sum + premium, 0),
  delivered: () => charges.forEach((charge) => charge.delivered()),
  undelivered: () => charges.forEach((charge) => charge.undelivered()),
});

interface Priced {
  readonly order: ChargeOrder;
  readonly objects: number;
}

/** The price of all, with the highest of their weights. */
export function priceOf(parts: readonly Priced[]): Price {
  let [messages, premiumMessages, objects, weight] = [0, 0, 0, 0];
  for (const { objects: count, order } of parts) {
    if (order.premium) premiumMessages += count * order.weight;
    else messages += count * order.weight;
    objects += count;
    weight = Math.max(weight, order.weight);
  }
  return { messages, premiumMessages, objects, weight };
}

/** Why a call is not answered that costs more than was allowed; undefined where it may. */
export function dearRefusal(
  { messages, objects, premiumMessages, weight }: Price,
  most: number | undefined,
  verb: string,
): Failure | undefined {
  const all = messages + premiumMessages;
  if (most === undefined || all <= most) return undefined;
  const counted = `${objects} ${objects === 1 ? 'object' : 'objects'} of weight ${weight}`;
  const price = `${all} messages: ${counted}`;
  return new Failure('PriceTooHigh', `"maxMessages" is ${most}, and the call ${verb} ${price}`);
}

/** @throws Failure PriceTooHigh */
function refuseDear(price: Price, most: number | undefined, verb: string): void {
  const refusal = dearRefusal(price, most, verb);
  if (refusal !== undefined) throw refusal;
}

/** Nobody pays: the test environment tells the price, a server without metering 0. */
function uncharged({ environment }: Call, parts: readonly Priced[]): Charge {
  const price = environment === 'test' ? priceOf(parts) : { messages: 0, premiumMessages: 0 };
  const ignore = (): void => undefined;
  const { messages, premiumMessages: premium } = price;
  return { messages, premium, delivered: ignore, undelivered: ignore };
}
