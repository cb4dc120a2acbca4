import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cli, startCli } from '../helpers/cli.js';
import { openBrowser, openWindow, type Window } from './browser.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let browser: Browser;
let folder: string;

beforeAll(async () => {
  browser = await openBrowser();
  folder = mkdtempSync(join(tmpdir(), 'kybatch-page-'));
  cpSync('fixtures/portfolio.csv', join(folder, 'portfolio.csv'));
  await cli(['run', 'portfolio.csv', '--sandbox', '--yes', '--limit', '30'], { cwd: folder });
});

afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The built program, as a user starts it. Its link works once, so each window has a page of its own. */
async function withUi(use: (link: string) => Promise<void>, flags: readonly string[] = []): Promise<void> {
  const { child, finished } = startCli(['ui', '--sandbox', '--no-open', '--by', 'ann', ...flags], { cwd: folder });
  try {
    const link = await new Promise<string>((found) =>
      child.stdout?.on('data', (chunk: Buffer) => found(chunk.toString().trim())),
    );
    await use(link);
  } finally {
    child.kill('SIGINT');
    expect((await finished).code).toBe(0);
  }
}

/** Every address in the navigation, and the first link of each list. */
const ADDRESSES = [
  '/',
  '/plan',
  '/plan?path=portfolio.csv',
  '/runs',
  '/review',
  '/companies',
  '/changes',
  '/usage',
  '/decisions',
];

async function seriousFindings({ page }: Window): Promise<readonly string[]> {
  // A window without our policy runs the checker on the same markup.
  const html = await page.content();
  const other = await page.context().browser()?.newContext();
  const copy = await other?.newPage();
  try {
    const style = readFileSync('src/web/static/style.css', 'utf8');
    await copy?.setContent(html.replace(/<link[^>]*>|<script[^>]*><\/script>/g, ''));
    await copy?.addStyleTag({ content: style });
    await copy?.addScriptTag({ content: AXE });
    const found = (await copy?.evaluate('axe.run()')) as {
      violations: { id: string; impact: string; nodes: unknown[] }[];
    };
    return found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id }) => id);
  } finally {
    await other?.close();
  }
}

describe.each([
  { width: 1440, scheme: 'light' },
  { width: 360, scheme: 'dark' },
] as const)('at $width pixels, $scheme', (look) => {
  test('every screen opens without an error, fits, and is accessible', () =>
    withUi(async (link) => {
      const window = await openWindow(browser, link, look);
      const { page, troubles } = window;
      expect(page.url()).not.toContain('token');
      for (const address of ADDRESSES) {
        await page.goto(new URL(address, link).href);
        expect([address, await page.locator('h1').count()]).toEqual([address, 1]);
        const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
        expect([address, overflow <= 0]).toEqual([address, true]);
        expect([address, await seriousFindings(window)]).toEqual([address, []]);
      }
      expect(troubles).toEqual([]);
      await window.close();
    }));
});

test('a run that another process works on is shown live, to its end', () =>
  withUi(async (link) => {
    const { page, troubles, close } = await openWindow(browser, link);
    await page.goto(new URL('/plan?path=portfolio.csv&pipeline=credit', link).href);
    await page.getByRole('button', { name: 'Start…' }).click();
    await page.getByRole('button', { name: /^Buy up to/ }).click();
    await page.waitForURL(/\/runs\/\d{4}/);
    await page.locator('.chip', { hasText: /finished|paused|stopped/ }).waitFor();
    expect(await page.locator('text=complete').count()).toBeGreaterThan(0);
    expect(troubles).toEqual([]);
    await close();
  }));

test('questions are answered with keys alone, and an answer is undone', () =>
  withUi(async (link) => {
    const { page, troubles, close } = await openWindow(browser, link);
    await page.goto(new URL('/review', link).href);
    const open = Number(/\d+/.exec(await page.locator('h1 + .sub').innerText())?.[0]);
    await page.getByRole('link', { name: 'Begin' }).click();
    await page.waitForURL(/\/review\/Q/);
    const first = page.url();
    await page.keyboard.press('n');
    await page.waitForURL((address) => address.href !== first);
    const openNow = async () => {
      await page.goto(new URL('/review', link).href);
      return Number(/\d+/.exec(await page.locator('h1 + .sub').innerText())?.[0]);
    };
    // The page records answers when the person pauses.
    await expect.poll(openNow, { timeout: 60_000 }).toBe(open - 1);
    await page.getByRole('link', { name: 'Begin' }).click();
    await page.waitForURL(/\/review\/Q/);
    await page.keyboard.press('u');
    await page.locator('.notice').waitFor();
    await expect.poll(openNow, { timeout: 60_000 }).toBe(open);
    expect(troubles).toEqual([]);
    await close();
  }));

test('a person who may only look sees no form that changes anything', () =>
  withUi(
    async (link) => {
      const { page, close } = await openWindow(browser, link);
      for (const address of ADDRESSES) {
        await page.goto(new URL(address, link).href);
        expect([address, await page.locator('form[method=post]').count()]).toEqual([address, 0]);
      }
      await close();
    },
    ['--read-only'],
  ));
