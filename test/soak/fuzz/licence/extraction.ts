// No program learns licensed records below their price.
import { seeded } from '../../crash/rounds/seeded.ts';
import { centsOf, meterOf, programsOf } from './programs.ts';
import { openShop, WEIGHTS } from './shop.ts';

interface ExtractionTold {
  readonly failures: readonly string[];
  readonly programs: number;
  readonly learnt: number;
  readonly paid: number;
}

export async function extractionLaw(count: number, seed: number): Promise<ExtractionTold> {
  await using shop = await openShop(seed);
  const cents = new Set(shop.bars.map(centsOf));
  const told = { failures: [] as string[], programs: 0, learnt: 0, paid: 0 };
  for (const { name, run } of programsOf(count, seeded(seed), shop.bars)) {
    const meter = meterOf(shop);
    try {
      const learnt = new Set((await run(shop, meter)).filter((one) => cents.has(one))).size;
      const paid = meter.paid();
      told.programs += 1;
      told.learnt += learnt;
      told.paid += paid;
      // A program that learns nothing shows nothing.
      if (learnt === 0) told.failures.push(`${name} learnt nothing for ${paid} messages`);
      if (paid < learnt * WEIGHTS.BARS)
        told.failures.push(`${name}: ${learnt} records for ${paid} messages`);
    } catch (error) {
      told.failures.push(`${name}: ${String(error)}`);
    }
  }
  return told;
}
