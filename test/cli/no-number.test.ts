import { expect, test } from 'vitest';
import { type EndJson, jsonOf, withJob } from './here.js';

test('dates, decimals and counts in the number column cost nothing without a name', async () => {
  await withJob({}, async ({ kybatch, writeCsv }) => {
    const numbers = ['2025-02-01', '01.02.2025', '01/02/2025 12:00', '1122388.3', '-11223883', '0.5', '11', 'SW1A 1AA'];
    writeCsv(
      'list.csv',
      numbers.map((registration_number) => ({ country: 'GB', registration_number })),
    );
    const end = await kybatch(['run', 'list.csv', '--pipeline', 'p.yaml', '--json', '--yes']);
    expect(jsonOf<EndJson>(end)).toMatchObject({ rows: 8, outcomes: { needs_review: 8 }, units_charged: 0 });
    const { questions } = jsonOf<{ questions: { code: string }[] }>(await kybatch(['review', 'list', '--json']));
    expect(new Set(questions.map(({ code }) => code))).toEqual(new Set(['NUMBER_UNREADABLE']));
  });
});
