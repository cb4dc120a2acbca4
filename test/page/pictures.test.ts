import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cli, startCli, withFolder } from '../helpers/cli.js';
import { openBrowser, openWindow } from './browser.js';

const IMAGES = join(import.meta.dirname, '../../docs/images');

/** The screens in the docs, each with its address or the link that leads to it. */
const SCREENS = [
  { name: 'portfolios', address: '/' },
  { name: 'plan', address: '/plan?path=portfolio.csv&pipeline=credit' },
  { name: 'runs', address: '/runs' },
  { name: 'run', address: '/runs', follow: 'main tbody a' },
  { name: 'review', address: '/review' },
  { name: 'question', address: '/review', follow: 'a:has-text("Begin")' },
  { name: 'companies', address: '/companies' },
  { name: 'company', address: '/companies?q=Hofmert', follow: 'main tbody a' },
  { name: 'changes', address: '/changes' },
  { name: 'usage', address: '/usage' },
  { name: 'decisions', address: '/decisions' },
];

test.runIf(process.env.KYBATCH_WRITE_DOCS === '1')('pictures of every screen are written to docs/images', () =>
  withFolder(async (folder) => {
    cpSync('fixtures/portfolio.csv', join(folder, 'portfolio.csv'));
    const run = ['run', 'portfolio.csv', '--sandbox', '--yes', '--no-export', '--pipeline', 'credit'];
    await cli(run, { cwd: folder });
    const listed = await cli(['review', 'reject', '--reason', 'NO_CANDIDATE', '--by', 'ann', '--yes'], { cwd: folder });
    await cli(['sandbox', 'change', 'DE HRB 1576 Stuttgart', 'status', 'in insolvency'], { cwd: folder });
    await cli([...run, '--rebuy', '--limit', '12'], { cwd: folder });
    const { child, finished } = startCli(['ui', '--sandbox', '--no-open', '--by', 'ann'], { cwd: folder });
    const browser = await openBrowser();
    try {
      const link = await new Promise<string>((found) =>
        child.stdout?.on('data', (chunk: Buffer) => found(chunk.toString().trim())),
      );
      const { page, troubles } = await openWindow(browser, link, { width: 1200 });
      for (const { name, address, follow } of SCREENS) {
        await page.goto(new URL(address, link).href);
        if (follow !== undefined) {
          await page.locator(follow).first().click();
          await page.waitForLoadState();
        }
        await page.screenshot({ path: join(IMAGES, `page-${name}.png`) });
      }
      expect(troubles).toEqual([]);
      void listed;
    } finally {
      await browser.close();
      child.kill('SIGINT');
      await finished;
    }
  }),
);
