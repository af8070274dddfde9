// Prices of invented options: European ones by Black and Scholes, in whole cents, so that no chain has a
// free lunch beyond a cent.

/** Of a year, as everything here. */
export const RATE = 0.03;

interface Chain {
  /** Price of the share, in cents. */
  readonly spot: number;
  /** Standard deviation of a year's return. */
  readonly volatility: number;
  /** Years until they expire. */
  readonly years: number;
}

interface Prices {
  readonly call: number;
  readonly put: number;
}

/** In cents. @param strike in cents */
export function optionPrices({ spot, volatility, years }: Chain, strike: number): Prices {
  const spread = volatility * Math.sqrt(years);
  const later = strike * Math.exp(-RATE * years);
  const distance = Math.log(spot / later) / spread;
  const call = spot * below(distance + spread / 2) - later * below(distance - spread / 2);
  // By parity, of the call before it is rounded.
  const [least, most] = [Math.max(0, spot - later), spot];
  const fair = Math.min(most, Math.max(least, call));
  return { call: Math.round(fair), put: Math.round(fair - spot + later) };
}

/** Share of the normal distribution below a value (Abramowitz and Stegun 26.2.17: to 7.5e-8). */
function below(value: number): number {
  const share = 1 / (1 + 0.2316419 * Math.abs(value));
  const powers = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429];
  const sum = powers.reduceRight((rest, factor) => (rest + factor) * share, 0);
  const tail = (Math.exp((-value * value) / 2) / Math.sqrt(2 * Math.PI)) * sum;
  return value < 0 ? tail : 1 - tail;
}

/** Steps between strikes, in cents, by the powers of ten. */
const STEPS = [1, 2.5, 5];
/** Of the price, at most. */
const STEP_SHARE = 0.05;
const STRIKES_EACH_SIDE = 5;

/** Around the price, in cents; of a price of some cents there are fewer. */
export function strikesAround(spot: number): readonly number[] {
  const step = stepFor(spot * STEP_SHARE);
  const middle = Math.round(spot / step);
  return Array.from({ length: 2 * STRIKES_EACH_SIDE + 1 }, (_, at) =>
    Math.round((middle + at - STRIKES_EACH_SIDE) * step),
  ).filter((strike) => strike > 0);
}

/** The largest step that is no more, one cent at least. */
function stepFor(most: number): number {
  let [step, power] = [1, 1];
  while (power <= most) {
    for (const factor of STEPS) {
      const next = factor * power;
      if (next <= most && Number.isInteger(next)) step = next;
    }
    power *= 10;
  }
  return step;
}
