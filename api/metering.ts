// A metered call, whatever it runs: hold its upper bound, run, settle what it returned; or only
// tell its price. Nothing is spent on a call that fails or that costs more than its caller allowed.
import type { Caller } from '../store/callers.ts';
import { Failure } from '../store/failure.ts';
import type { Charge, Order } from '../store/ledger.ts';
import type { Call, Services } from './endpoint.ts';
import { numberOf, type Parameter, truthOf } from './parameters.ts';

/** Query parameters of every metered call. */
export const METERING_PARAMETERS: readonly Parameter[] = [
  {
    kind: 'boolean',
    name: 'estimate',
    help: 'Only the price: messages, objects and weight; nothing is charged.',
  },
  {
    kind: 'integer',
    name: 'maxMessages',
    least: 0,
    most: 1_000_000_000_000,
    help: 'The most that the call may cost: past it 402 is answered and nothing charged.',
  },
];

type Metered<T> =
  | { readonly kind: 'charged'; readonly result: T; readonly charge: Charge }
  | { readonly kind: 'estimate'; readonly price: Price };

/** What a call costs, in messages of its kinds, and why. */
interface Price {
  readonly messages: number;
  readonly premiumMessages: number;
  readonly objects: number;
  readonly weight: number;
}

/**
 * Runs a call for `caller` and charges the objects that it returned.
 * @param objectsMax the most objects that it can return
 * @throws Failure OverLimit, CircuitBreaker, PriceTooHigh, and what `run` throws: then it is free.
 */
export async function metered<T extends { readonly objects: number }>(
  call: Call,
  { ledger, settings }: Services,
  caller: Caller,
  order: Order,
  objectsMax: number,
  run: () => Promise<T>,
): Promise<Metered<T>> {
  if (truthOf(call.query, 'estimate')) {
    return { kind: 'estimate', price: priceOf(order, (await run()).objects) };
  }
  const most = numberOf(call.query, 'maxMessages');
  if (!settings.metering || call.bodiless || call.environment === 'test') {
    const result = await run();
    refuseDear(order, result.objects, most);
    return { kind: 'charged', result, charge: uncharged(call, order, result.objects) };
  }
  const hold = ledger.hold(caller, order, objectsMax);
  try {
    const result = await run();
    refuseDear(order, result.objects, most);
    return { kind: 'charged', result, charge: ledger.settle(hold, result.objects) };
  } catch (error) {
    ledger.release(hold);
    throw error;
  }
}

function priceOf({ weight, premium }: Order, objects: number): Price {
  const messages = premium ? 0 : objects * weight;
  const premiumMessages = premium ? objects * weight : 0;
  return { messages, premiumMessages, objects, weight };
}

function refuseDear({ weight }: Order, objects: number, most: number | undefined): void {
  if (most === undefined || objects * weight <= most) return;
  const counted = `${objects} ${objects === 1 ? 'object' : 'objects'} of weight ${weight}`;
  const price = `${objects * weight} messages: ${counted}`;
  throw new Failure('PriceTooHigh', `"maxMessages" is ${most}, and the call costs ${price}`);
}

/** Nobody pays: the test environment tells the price, a server without metering 0. */
function uncharged({ environment }: Call, { weight, premium }: Order, objects: number): Charge {
  const price = environment === 'test' ? objects * weight : 0;
  const ignore = (): void => undefined;
  const messages = premium ? 0 : price;
  return { messages, premium: price - messages, delivered: ignore, undelivered: ignore };
}
