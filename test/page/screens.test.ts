import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
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
  // A window without the page's content policy runs the checker on this markup.
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
    // A key that comes sooner does not answer.
    const press = async (key: string) => {
      await page.waitForFunction(() => performance.now() > 2_000);
      await page.keyboard.press(key);
    };
    await page.getByRole('link', { name: 'Begin' }).click();
    await page.waitForURL(/\/review\/Q/);
    const first = page.url();
    await press('n');
    await page.waitForURL((address) => address.href !== first);
    const openNow = async () => {
      await page.goto(new URL('/review', link).href);
      return Number(/\d+/.exec(await page.locator('h1 + .sub').innerText())?.[0]);
    };
    // The page records answers when the person pauses.
    await expect.poll(openNow, { timeout: 60_000 }).toBe(open - 1);
    await page.getByRole('link', { name: 'Begin' }).click();
    await page.waitForURL(/\/review\/Q/);
    await press('u');
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

const ATTACKS = [
  '<script>window.attacked = 1</script>',
  '<img src=x onerror=window.attacked=1>',
  '"><svg onload=window.attacked=1>',
  "' onmouseover='window.attacked=1",
  '</title></style></textarea></select>',
  'javascript:window.attacked=1',
  '<!--',
  ']]>',
  '<iframe srcdoc="<script>parent.attacked=1</script>">',
  '&lt;b&gt;&amp;',
  '`$' + '{window.attacked=1}`',
  '\u202Egnp.exe\u2066',
  '{{constructor.constructor("window.attacked=1")()}}',
  '\u0000\u001B]8;;x',
  '<a href="//elsewhere.test" autofocus onfocus=window.attacked=1>',
  'Müller & Söhne "AG"',
];

test('2,000 hostile names are text on every screen', () =>
  withUi(async (link) => {
    const parts = fc.array(fc.oneof(fc.constantFrom(...ATTACKS), fc.string({ unit: 'binary' })), {
      minLength: 1,
      maxLength: 4,
    });
    const names = fc.sample(parts, { numRuns: 2_000, seed: 34 }).map((some) => some.join(' '));
    const cells = names.map((name, index) => `H-${index},"${name.replaceAll('"', '""')}",GB`);
    writeFileSync(join(folder, 'hostile.csv'), ['id,name,country', ...cells].join('\n'));
    await cli(['run', 'hostile.csv', '--sandbox', '--yes', '--no-export', '--pipeline', 'backfill'], { cwd: folder });
    const { page, troubles, close } = await openWindow(browser, link);
    const lists = ['/companies?portfolio=hostile.csv', '/review', '/plan?path=hostile.csv', '/', '/runs'];
    for (const list of lists) {
      for (let address: string | null = list; address !== null; ) {
        await page.goto(new URL(address, link).href);
        const foreign =
          'main script, main img, main iframe, main [onload], main [onerror], main [onfocus], main [onmouseover]';
        expect([address, await page.locator(foreign).count()]).toEqual([address, 0]);
        expect([address, await page.evaluate('window.attacked ?? null')]).toEqual([address, null]);
        const more = page.locator('.pager a', { hasText: 'More' });
        address = (await more.count()) === 0 ? null : await more.getAttribute('href');
      }
    }
    await page.goto(new URL('/companies?portfolio=hostile.csv&q=H-7', link).href);
    expect(await page.locator('tbody tr').count()).toBeGreaterThan(0);
    expect(troubles).toEqual([]);
    await close();
  }));
