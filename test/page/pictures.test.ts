import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cli, startCli, withFolder } from '../helpers/cli.js';
import { openBrowser, openWindow } from './browser.js';

const IMAGES = join(import.meta.dirname, '../../docs/images');

/** The screens in the docs, each with its address, or the link that leads to it. */
const SCREENS = [
  { name: 'portfolios', address: '/' },
  { name: 'plan', address: '/plan?path=suppliers.csv&pipeline=onboarding' },
  { name: 'runs', address: '/runs' },
  { name: 'run', address: '/runs', follow: 'main tbody a' },
  { name: 'review', address: '/review' },
  { name: 'question', address: '/review', follow: 'main tbody tr:nth-child(2) a' },
  { name: 'companies', address: '/companies' },
  { name: 'company', address: '/companies', follow: 'main tbody a[href^="/companies/"]' },
  { name: 'changes', address: '/changes' },
  { name: 'usage', address: '/usage' },
  { name: 'decisions', address: '/decisions' },
];

test.runIf(process.env.KYBATCH_WRITE_DOCS === '1')('pictures of every screen are written to docs/images', () =>
  withFolder(async (folder) => {
    const kybatch = (...args: readonly string[]) => cli(args, { cwd: folder });
    await kybatch('sandbox', 'sample', '--rows', '80', '--country', 'DE', '--dirty', '--out', 'suppliers.csv');
    const run = ['run', 'suppliers.csv', '--sandbox', '--yes', '--no-export', '--pipeline', 'credit'];
    await kybatch(...run);
    await kybatch('review', 'confirm', '--reason', 'NUMBER_UNREADABLE', '--min-grade', 'ZAZAZ', '--by', 'ben', '--yes');
    const answers = readFileSync(join(folder, 'suppliers.answers.csv'), 'utf8').split('\n');
    const changed = answers.slice(1, 4).map((line) => line.split(',')[5] ?? '');
    await kybatch('sandbox', 'change', changed[0] ?? '', 'company_status', 'dissolved', '--sandbox');
    await kybatch('sandbox', 'change', changed[1] ?? '', 'name', 'Hofmert Energie AG', '--sandbox');
    await kybatch(...run, '--rebuy');
    const { child, finished } = startCli(['ui', '--sandbox', '--no-open', '--by', 'ann'], { cwd: folder });
    const browser = await openBrowser();
    try {
      const link = await new Promise<string>((found) =>
        child.stdout?.on('data', (chunk: Buffer) => found(chunk.toString().trim())),
      );
      const { page, troubles } = await openWindow(browser, link, { width: 1200 });
      page.setDefaultTimeout(20_000);
      for (const { name, address, follow } of SCREENS) {
        await page.goto(new URL(address, link).href);
        if (follow !== undefined) {
          await page.locator(follow).first().click();
          await page.waitForURL((shown) => shown.pathname !== address);
        }
        await page.screenshot({ path: join(IMAGES, `page-${name}.png`) });
      }
      expect(troubles).toEqual([]);
    } finally {
      await browser.close();
      child.kill('SIGINT');
      await finished;
    }
  }),
);
