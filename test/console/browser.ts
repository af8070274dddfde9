// A person's browser: Debian's Chromium, driven by playwright-core, on a page that is watched: messages of
// its console, refusals of its policy, and every byte it loads.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { test } from 'vitest';

const PROGRAM = '/usr/bin/chromium';
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-sync',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-dev-shm-usage',
];

/** Bytes that the console may load for all of its screens. */
export const LOADED_MAX = 1024 ** 2;
/** Bytes that are loaded before the first field is shown: everything else loads later. */
export const FIRST_MAX = 24 * 1024;

const DESKTOP = { width: 1280, height: 800 } as const;
export const PHONE = { width: 390, height: 844 } as const;

/** Skipped by name without a browser; a failure in CI, which installs one. */
export const browserTest = test.skipIf(!existsSync(PROGRAM) && process.env['CI'] !== 'true');

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: PROGRAM, args: ARGUMENTS });

export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings of the page, refusals of its policy among them. */
  readonly complaints: readonly string[];
  /** Bytes of its files over the wire so far. */
  readonly loaded: () => number;
}

/** Timeout of an event that never happens; long enough for a machine that is busy with other tests. */
const PATIENCE_MS = 90_000;

interface Opening {
  readonly size?: { readonly width: number; readonly height: number };
  readonly scheme?: 'dark' | 'light';
}

/** Statuses that a test expects are not complaints of the page: the browser logs each refusal too. */
const REFUSAL = /^Failed to load resource: the server responded with a status of 4\d\d/;

export async function watchedPage(browser: Browser, opening: Opening = {}): Promise<Watched> {
  const { scheme = 'light', size = DESKTOP } = opening;
  const context = await browser.newContext({
    viewport: size,
    colorScheme: scheme,
    reducedMotion: 'reduce',
    acceptDownloads: true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (!['error', 'warning'].includes(message.type()) || REFUSAL.test(message.text())) return;
    complaints.push(`${message.text()} ${JSON.stringify(message.location())} at ${page.url()}`);
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  let loaded = 0;
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  const files = new Set<string>();
  session.on('Network.responseReceived', ({ requestId, response }) => {
    if (new URL(response.url).pathname.startsWith('/console')) files.add(requestId);
  });
  session.on('Network.loadingFinished', ({ encodedDataLength, requestId }) => {
    if (files.has(requestId)) loaded += encodedDataLength;
  });
  return { page, context, complaints, loaded: () => loaded };
}

/** Opens the console and signs in with a token. */
export async function signedIn({ page }: Watched, base: string, token: string): Promise<void> {
  await page.goto(`${base}/console`);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** Navigates to a screen as a link does: the page and its session remain. */
export async function visit({ page }: Watched, path: string): Promise<void> {
  await page.evaluate(
    `(() => { const link = document.createElement('a'); link.href = '/console' + ${JSON.stringify(path)};
      document.activeElement?.blur(); document.body.append(link); link.click(); link.remove(); })()`,
  );
  // A new screen takes the focus.
  await page.locator('main h1:focus').waitFor();
  await settled(page);
}

/** Waits until nothing on the screen is loading. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor();
  await page.locator('.waiting, [aria-busy=true]').first().waitFor({ state: 'detached' });
}

export const quiet = ({ complaints }: Watched): void => assert.deepEqual(complaints, []);
