// No program learns licensed records below their price.
import { seeded } from '../../crash/rounds/seeded.ts';
import { centsOf, meterOf, programsOf } from './programs.ts';
import { openShop, WEIGHTS } from './shop.ts';

interface ExtractionReport {
  readonly failures: readonly string[];
  readonly programs: number;
  readonly learnt: number;
  readonly paid: number;
}

export async function extractionLaw(count: number, seed: number): Promise<ExtractionReport> {
  await using shop = await openShop(seed);
  const cents = new Set(shop.bars.map(centsOf));
  const report = { failures: [] as string[], programs: 0, learnt: 0, paid: 0 };
  for (const { name, run } of programsOf(count, seeded(seed), shop.bars)) {
    const meter = meterOf(shop);
    try {
      const learnt = new Set((await run(shop, meter)).filter((one) => cents.has(one))).size;
      const paid = meter.paid();
      report.programs += 1;
      report.learnt += learnt;
      report.paid += paid;
      // A program that learns nothing proves nothing.
      if (learnt === 0) report.failures.push(`${name} learnt nothing for ${paid} messages`);
      if (paid < learnt * WEIGHTS.BARS)
        report.failures.push(`${name}: ${learnt} records for ${paid} messages`);
    } catch (error) {
      report.failures.push(`${name}: ${String(error)}`);
    }
  }
  return report;
}
