import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'chrome'];
const PLACES = ['/usr/lib/chromium/chromium-headless-shell', '/opt/google/chrome/chrome'];

/** KYBATCH_BROWSER, else a browser on the PATH, else one at a known place. */
function findBrowser(): string {
  const named = process.env.KYBATCH_BROWSER;
  const onPath = (process.env.PATH ?? '').split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  const found = [...(named === undefined ? [] : [named]), ...onPath, ...PLACES].find((path) => existsSync(path));
  if (found === undefined)
    throw new Error(
      'no browser was found. Install one (apt-get install --no-install-recommends chromium-headless-shell), or name it in KYBATCH_BROWSER',
    );
  return found;
}

/** Chromium has no sandbox of its own for root. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: findBrowser(), args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });

export interface Look {
  readonly width?: number;
  readonly scheme?: 'light' | 'dark';
}

export interface Window {
  readonly page: Page;
  /** Errors of the console, and requests to other hosts. */
  readonly troubles: readonly string[];
  close(): Promise<void>;
}

/** A window that has opened the link of a page. */
export async function openWindow(
  browser: Browser,
  link: string,
  { width = 1440, scheme = 'light' }: Look = {},
): Promise<Window> {
  const context: BrowserContext = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
  const page = await context.newPage();
  const troubles: string[] = [];
  const { origin } = new URL(link);
  page.on('console', (said) => said.type() === 'error' && troubles.push(`console: ${said.text()}`));
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
  page.on(
    'request',
    (request) => new URL(request.url()).origin !== origin && troubles.push(`request: ${request.url()}`),
  );
  await page.goto(link);
  return { page, troubles, close: () => context.close() };
}
