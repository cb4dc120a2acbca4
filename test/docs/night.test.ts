import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { Figures } from '../../src/app/monitoring/figures.js';
import { metricsText } from '../../src/app/monitoring/metrics.js';

const page = readFileSync(resolve('docs/how-to/monitor.md'), 'utf8');

const EVERYTHING: Figures = {
  at: 2000,
  lists: [
    {
      name: 'a "list"\n',
      outcomes: { complete: 1, no_match: 0, needs_review: 0, invalid: 0, failed: 0, pending: 0 },
      due: 0,
      held: { waiting: 0 },
      oldestAnswerAt: 500,
      lastSuccessAt: 1000,
      departed: 1,
      workers: 1,
      outages: [{ api: 'v1', operation: 'fullKyb', code: 'TIMEOUT', since: 1000, nextTryAt: 2000, givesUpAt: 3000 }],
      lastExit: { code: 0, reason: 'OK' },
    },
  ],
  unknownCharges: 0,
  unitsCharged: 7,
  drift: [{ api: 'v1', units: 0 }],
  permissions: [{ permission: 'credit_report', metric: 'plan', left: 3, drift: 0 }],
  ledgerBytes: 1,
  freeBytes: 2,
  unitsLeft: [{ api: 'v1', of: 'day', units: 3 }],
  attempt: {
    list: 'a "list"\n',
    atWork: false,
    spent: { units: 1, reports: 0, unknown: 0, unknownInBudget: 0 },
    budgetLeft: 4,
    calls: [{ api: 'v1', operation: 'fullKyb', class: 'ok', httpStatus: 200, count: 1 }],
  },
};

test('the page lists every metric with its labels, and no other', () => {
  const text = metricsText(EVERYTHING);
  const written = new Map(
    [...text.matchAll(/^(kybatch_\w+)(?:\{(.*)\})? \S+$/gm)].map(([, name = '', labels = '']) => [
      name,
      [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label).join(', '),
    ]),
  );
  const told = new Map(
    [...page.matchAll(/^\| (`kybatch_.+?`) \| (.*?) ?\| .* \|$/gm)].flatMap(([, names = '', labels = '']) =>
      [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => [name, labels] as const),
    ),
  );
  expect(told).toEqual(written);
  expect(text).toContain('portfolio="a \\"list\\""');
  expect(text.match(/^# HELP/gm)).toHaveLength(written.size);
});
