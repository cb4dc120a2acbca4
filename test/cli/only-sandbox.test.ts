/** @module-tag long */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { openLedgerIn } from '../helpers/ledger-place.js';
import { jsonOf, withJob } from './here.js';

interface Listed {
  readonly portfolios: readonly { readonly portfolio: string }[];
}

test('commands that show lists take --sandbox, and show only lists of the sandbox', () =>
  withJob({ clock: new JumpingClock('2026-03-01T02:00:00Z') }, async ({ kybatch, writeCsv, rows }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    const run = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--no-export'];
    await kybatch([...run, '--portfolio', 'real']);
    await kybatch([...run, '--portfolio', 'tried', '--sandbox']);
    const names = async (...words: string[]) =>
      jsonOf<Listed>(await kybatch([...words, '--json'])).portfolios.map(({ portfolio }) => portfolio);
    for (const words of [['portfolios'], ['status', '--check']]) {
      expect(await names(...words)).toHaveLength(2);
      expect(await names(...words, '--sandbox')).toEqual(['tried']);
    }
    expect((await kybatch(['changes', 'tried', '--sandbox'])).code).toBe(0);
    expect((await kybatch(['changes', '--sandbox'])).codes).toEqual(['NOTHING_CHANGED']);
    expect(await kybatch(['changes', 'real', '--sandbox'])).toMatchObject({ code: 2 });
    expect(await kybatch(['status', '--sandbox'])).toMatchObject({ code: 2 });
  }));

test('watch list takes --sandbox as well', () =>
  withJob({ clock: new JumpingClock('2026-03-01T02:00:00Z') }, async ({ kybatch, cwd, sandbox }) => {
    const ledger = await openLedgerIn({ dataDir: join(cwd, 'data'), now: Date.now(), access: 'write' });
    for (const [name, companyId] of [
      ['sandbox:1', '11'],
      [sandbox.v2BaseUrl, '22'],
    ] as const) {
      const environmentId = await ledger.calls.environment('v2', name);
      await ledger.watches.asked(environmentId, companyId, null, 1);
      const event = { eventType: name, status: null, message: null, dateCreated: null, extra: null };
      await ledger.watches.hear({ environmentId, companyId, events: [event], heardAt: 1, rawSha256: 'ab' });
    }
    await ledger.close();
    const listed = async (...words: string[]) => {
      const { watches, events } = jsonOf<Record<'watches' | 'events', readonly { v2_company_id: string }[]>>(
        await kybatch(['watch', 'list', '--json', ...words]),
      );
      return [watches, events].map((lines) => lines.map(({ v2_company_id: id }) => id).sort());
    };
    expect(await listed()).toEqual([
      ['11', '22'],
      ['11', '22'],
    ]);
    expect(await listed('--sandbox')).toEqual([['11'], ['11']]);
  }));
