// Takes the screenshots of docs/guides/console.md: `node test/console/pictures.ts`. Screens of a real server
// with its demo data, in Chromium.
import { join } from 'node:path';
import { startServer } from '../base/server.ts';
import { launch, settled, signedIn, visit, watchedPage } from './browser.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'guides', 'pictures');
const SIZE = { width: 1180, height: 740 } as const;

const QUERY =
  'SELECT symbol, year(date) AS year, round(avg(price), 2) AS mean,\n       round(max(price), 2) AS top\n' +
  'FROM STOCKS\nGROUP BY 1, 2\nORDER BY 1, 2';

const PICTURES = [
  ['chart', '/datasets/DEMO/SP500?tab=chart&points=250', 'dark'],
  ['sql', `/sql/DEMO?q=${encodeURIComponent(QUERY)}`, 'light'],
  ['profile', '/datasets/DEMO/SP500?tab=profile', 'light'],
] as const;

await using server = await startServer({ settings: { TAPEDECK_DEMO: 'on' } });
for (const job of server.tapedeck.demoJobs) await server.tapedeck.services.runner.ended(job);
const browser = await launch();
for (const [name, path, scheme] of PICTURES) {
  const watched = await watchedPage(browser, { size: SIZE, scheme });
  const { page } = watched;
  await signedIn(watched, server.base, server.secret);
  await visit(watched, path);
  if (name === 'chart') await page.locator('.chart canvas').waitFor();
  if (name === 'sql') {
    await page.locator('.cm-content').waitFor();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('heading', { name: /^Result/ }).waitFor();
  }
  await settled(page);
  await page.screenshot({ path: join(FOLDER, `${name}.png`) });
  await watched.context.close();
}
await browser.close();
