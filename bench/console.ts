// Measures the time until the user can type into the console's sign-in page, against a page with only an
// input. Both are loaded over loopback, without a cache, in a browser with its processor slowed down four
// times.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { startTapedeck } from '../app/main.ts';
import { readSettings } from '../store/base/settings/settings.ts';
import { type Ratio, measureRatio, roundFigure, measureMs } from './base/measure.ts';

const PROGRAM = '/usr/bin/chromium';
const SLOWER = 4;
const EMPTY =
  '<!doctype html><html lang="en"><title>empty</title><label>Token <input></label></html>';

export async function benchConsole(folder: string, pairs: number): Promise<readonly Ratio[]> {
  const tapedeck = await startTapedeck(
    readSettings({
      TAPEDECK_DATA: join(folder, 'console'),
      TAPEDECK_PORT: '0',
      TAPEDECK_DEMO: 'off',
      TAPEDECK_LOG: 'silent',
    }),
  );
  const bare = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(EMPTY);
  }).listen(0, '127.0.0.1');
  await once(bare, 'listening');
  const browser = await chromium.launch({ executablePath: PROGRAM, args: ['--no-sandbox'] });
  try {
    const empty = `http://127.0.0.1:${(bare.address() as AddressInfo).port}/`;
    const ratio = await measureRatio(
      { name: 'console: first screen, against an empty page', target: '+ 1 s', pairs },
      () => typedInto(browser, `${tapedeck.base}/console`),
      () => typedInto(browser, empty),
    );
    return [{ ...ratio, note: `+ ${roundFigure((ratio.oursMs - ratio.bareMs) / 1000)} s` }];
  } finally {
    await browser.close();
    bare.close();
    await tapedeck.close();
  }
}

/**
 * Milliseconds from opening the address to typing a letter into the field, which the console's script
 * renders.
 */
async function typedInto(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
    return await measureMs(async () => {
      await page.goto(url, { waitUntil: 'commit' });
      await page.getByLabel('Token').fill('x');
    });
  } finally {
    await context.close();
  }
}
