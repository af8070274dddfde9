// The market screens while the demo is filling: its progress, and the records once they are loaded.
import assert from 'node:assert/strict';
import { browserTest, launch, signedIn, visit, watchedPage } from './browser.ts';
import { startServer } from '../base/server.ts';

/** Friday noon in New York. */
const FRIDAY = Date.parse('2026-01-30T17:00:00Z');
const SMALL = { symbols: 2, years: 2, minuteDays: 1 } as const;

browserTest('the market screen shows the progress of the demo, then its symbols', async () => {
  await using server = await startServer({ seams: { clock: () => FRIDAY, exchange: SMALL } });
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const turn = server.tapedeck.services.runner.inTurn('CORE', 'HISTORICAL_PRICES', () => gate);
  const browser = await launch();
  try {
    const watched = await watchedPage(browser);
    await signedIn(watched, server.base, server.secret);
    const { page } = watched;
    for (const path of ['/market', '/market/SYNDEX']) {
      await visit(watched, path);
      await page
        .getByText(/^the demo is filling, \d+ %/)
        .first()
        .waitFor();
      assert.equal(await page.getByRole('alert').count(), 0, path);
    }
    release();
    await turn;
    await page.locator('p.price').waitFor();
  } finally {
    release();
    await browser.close();
  }
});
