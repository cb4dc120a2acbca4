import { describe, expect, test } from 'vitest';
import { v2Error } from '../../src/api/v2/errors.js';
import { v2Operations } from '../../src/api/v2/operations.js';
import { refusalOf } from '../../src/calls/settlement.js';
import { possibleCost } from '../../src/ledger/money/intent.js';

const NOW = Date.parse('2026-01-05T09:00:00Z');
const LIMIT = '{"access":{"permission":"p","module":"m"},"error_guard":"limits.daily","message_guard":"spent"}';

const FAILURES: readonly [what: string, status: number, body: string][] = [
  ['a page with the status of a success', 200, '<html>'],
  ['half an answer', 200, '{"id":'],
  ['an excuse with the status of a success', 200, '{"detail":"later"}'],
  ['a redirect', 302, ''],
  ['a validation error', 400, '{"country":["Not a country."]}'],
  ['a broken rule', 400, '{"fields":["Give a name."]}'],
  ['a refused token', 401, '{"detail":"Invalid token."}'],
  ['a refusal', 403, '{"detail":"No permission."}'],
  ['a spent limit', 403, LIMIT],
  ['nothing there', 404, '{"detail":"Not found."}'],
  ['no such route', 404, '<html>'],
  ['too many at once', 429, '{"detail":"Slow down."}'],
  ['a server that stumbles', 500, '{"detail":"Oops."}'],
  ['a gateway', 502, '<html>'],
];

/** The recorded charge of an operation that fails like this. Undefined if its document accepts it as an answer. */
function booked(name: keyof typeof v2Operations, status: number, body: string) {
  const operation = v2Operations[name];
  const error = v2Error({ status, headers: {}, body: Buffer.from(body), durationMs: 1 }, operation, NOW);
  return error && refusalOf(error, operation.meter, NOW);
}

describe('V2-17 no failure of v2 is documented as free', () => {
  const names = Object.keys(v2Operations) as (keyof typeof v2Operations)[];
  const paid = names.filter((name) => v2Operations[name].meter !== 'free');

  test.each(FAILURES)(
    '%s: the charge of every call that may cost is unknown, and no answer is stored',
    (what, status, body) => {
      for (const name of paid) {
        const settlement = booked(name, status, body);
        if (settlement === undefined) expect(status, `${name}: ${what}`).toBe(200);
        else expect(settlement, name).toMatchObject({ charge: 'unknown', unitsCharged: null, answer: null });
      }
    },
  );

  test.each(FAILURES)(
    '%s: a report counts against its limit, and is not generated again without a look',
    (_, status, body) => {
      const settlement = booked('creditReportGenerate', status, body);
      if (settlement === undefined) throw new Error('expected a failure');
      expect(settlement.inDoubt).toBe(true);
      expect(possibleCost('report', settlement)).toEqual({ units: 0, reports: 1 });
    },
  );

  test('only status calls, and opening a report again, are free', () => {
    expect(names.filter((name) => v2Operations[name].meter === 'free').sort()).toEqual([
      'creditReportFetch',
      'creditReportHistory',
      'creditReportStatus',
      'metrics',
      'metricsContacts',
      'nomenclature',
    ]);
  });
});
