// Prices of invented options: European ones by Black and Scholes, in whole cents, so that no chain allows
// arbitrage beyond a cent.

/** Per year, like all rates here. */
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
  // By put-call parity, from the call before rounding.
  const [least, most] = [Math.max(0, spot - later), spot];
  const fair = Math.min(most, Math.max(least, call));
  return { call: Math.round(fair), put: Math.round(fair - spot + later) };
}

/** Cumulative normal distribution (Abramowitz and Stegun 26.2.17: to 7.5e-8). */
function below(value: number): number {
  const share = 1 / (1 + 0.2316419 * Math.abs(value));
  const powers = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429];
  const sum = powers.reduceRight((rest, factor) => (rest + factor) * share, 0);
  const tail = (Math.exp((-value * value) / 2) / Math.sqrt(2 * Math.PI)) * sum;
  return value < 0 ? tail : 1 - tail;
}

/** Steps between strikes, in cents, times powers of ten. */
const STEPS = [1, 2.5, 5];
/** Largest step, as a share of the price. */
const STEP_SHARE = 0.05;
const STRIKES_EACH_SIDE = 5;

/** Strikes around the price, in cents; fewer for a price of some cents. */
export function strikesAround(spot: number): readonly number[] {
  const step = stepFor(spot * STEP_SHARE);
  const middle = Math.round(spot / step);
  return Array.from({ length: 2 * STRIKES_EACH_SIDE + 1 }, (_, at) =>
    Math.round((middle + at - STRIKES_EACH_SIDE) * step),
  ).filter((strike) => strike > 0);
}

/** The largest step up to a limit, at least one cent. */
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
