import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { long } from '../helpers/long.js';
import { chargedAgain } from '../helpers/sandbox.js';
import { jsonOf } from './here.js';
import { NOBODYS_NAME, NOBODYS_NUMBER, withFallback } from './with-fallback.js';

const NOBODY = { name: NOBODYS_NAME, country: 'GB', registration_number: NOBODYS_NUMBER };
const SEARCHED = ['searchKyb', 'searchKyb'];

describe('a row without a search result', () => {
  long('needs review if its website names a company with another number or in another country', async () => {
    await withFallback(['website'], async ({ company, leads, runRows }) => {
      const foreign = { name: NOBODYS_NAME, country: 'FR', registration_number: '', website: leads.website };
      const { code, rows, candidates, sent } = await runRows([{ ...NOBODY, website: leads.website }, foreign]);
      // Answers for one row are reused for the other: three searches for their own fields, one for the named number.
      expect([...sent].sort()).toEqual(['enrichCompanyByWebsite', ...SEARCHED, ...SEARCHED]);
      expect(code).toBe(3);
      const told = `${leads.website} \\w+ ${company.registrationNumber} \\(GB\\)`;
      expect(rows).toMatchObject([
        {
          outcome: 'needs_review',
          error_code: 'NUMBER_CONFLICT',
          error_message: expect.stringMatching(`${told}, .* ${NOBODYS_NUMBER}$`),
          matched_on: '',
          v1_company_id: '',
          input_website: leads.website,
        },
        {
          outcome: 'needs_review',
          error_code: 'COUNTRY_CONFLICT',
          error_message: expect.stringMatching(`${told}, .* FR$`),
        },
      ]);
      expect(candidates).toMatchObject([
        { row: '1', id: company.v1Id, decision: 'needs_review', match_grade: expect.stringMatching(/^FFZA/) },
        { row: '2', id: company.v1Id, decision: 'needs_review', match_grade: expect.stringMatching(/^ZFZF/) },
      ]);
      expect(candidates[0]?.evidence).toMatch(new RegExp(`${told} \\(enrichCompanyByWebsite\\)`));
    });
  });

  long('and with only a lead needs review', async () => {
    await withFallback(
      ['website', 'linkedin', 'lookup', 'autocomplete'],
      async ({ company, leads, runRows, sandbox }) => {
        const followed = ['website', 'linkedin', 'lei', 'phone', 'email'] as const;
        const blank = Object.fromEntries(followed.map((lead) => [lead, '']));
        const given = followed.map((lead) => ({ country: 'GB', ...blank, [lead]: leads[lead] }));
        const { rows, sent, candidates, end } = await runRows(given);
        // A phone number and an e-mail address are not repeated in a message.
        const shown = [leads.website, leads.linkedin, leads.lei, '', ''];
        expect(rows.map(({ error_message }) => error_message)).toEqual(
          shown.map((lead) => expect.stringMatching(`${lead} .*${company.registrationNumber} \\(GB\\), `)),
        );
        for (const { error_message } of rows) {
          expect(error_message).not.toContain(leads.phone);
          expect(error_message).not.toContain(leads.email);
        }
        for (const row of rows) expect(row).toMatchObject({ error_code: 'HINT_ONLY', matched_on: '' });
        expect(end.outcomes).toMatchObject({ needs_review: followed.length });
        expect(new Set(candidates.map(({ id }) => id))).toEqual(new Set([company.v1Id]));
        // All of them name one number, which is searched for once.
        const hints = ['autocomplete', 'companiesLookup', 'companiesLookup', 'enrichCompanyByLinkedin'];
        expect([...sent].sort()).toEqual([...hints, 'enrichCompanyByWebsite', 'searchKyb']);
        expect(chargedAgain(sandbox.chargeLog)).toEqual([]);
      },
    );
  });

  test('is confirmed if the named number is the number of the row', async () => {
    await withFallback(['registry'], async ({ company, runRows, sandbox }) => {
      // The searches for the row's own fields find no company, and the search for the named number does. The first call
      // is the check of the key.
      sandbox.script({ operation: 'searchKyb' }, ['none', { rewrite: '[]' }, { rewrite: '[]' }]);
      const named = { ...company, registrationNumber: company.registrationNumber ?? '' };
      sandbox.script({ operation: 'enrichCompanyByRegistry' }, { rewrite: (body) => spelled(body, named) });
      const row = { name: company.name, country: 'GB', registration_number: company.registrationNumber };
      const { rows, sent } = await runRows([row]);
      expect(sent).toEqual([...SEARCHED, 'enrichCompanyByRegistry', 'searchKyb', 'fullKyb']);
      expect(rows).toMatchObject([
        { outcome: 'complete', matched_on: 'registration_number', v1_company_id: company.v1Id },
      ]);
    });
  });

  long('has no match if no step names a company, and errors list each step', async () => {
    await withFallback(['lookup', 'website', 'autocomplete'], async ({ runRows }) => {
      const { rows, errors, sent } = await runRows([{ ...NOBODY, website: 'nobody-at-all.example' }]);
      expect(sent).toEqual([...SEARCHED, 'companiesLookup', 'enrichCompanyByWebsite', 'autocomplete']);
      expect(rows).toMatchObject([{ outcome: 'no_match', record_status: 'skipped' }]);
      expect(errors.map(({ stage, code }) => [stage, code])).toEqual([
        ['resolve', 'HINT_EMPTY'],
        ['resolve', 'NOT_FOUND'],
        ['resolve', 'NOT_FOUND'],
      ]);
      expect(errors[1]?.message).toMatch(/ nobody-at-all\.example: /);
    });
  });

  long('continues with the next step if one fails finally', async () => {
    await withFallback(['website', 'lookup'], async ({ leads, runRows, sandbox }) => {
      const refused = { reply: { status: 400, body: '{"url": ["Not a website."]}' } };
      sandbox.script({ operation: 'enrichCompanyByWebsite' }, refused);
      const { rows, errors, sent } = await runRows([{ ...NOBODY, website: leads.website }]);
      expect(sent.slice(2)).toEqual(['enrichCompanyByWebsite', 'companiesLookup', 'searchKyb']);
      expect(rows).toMatchObject([{ outcome: 'needs_review', error_code: 'NUMBER_CONFLICT' }]);
      expect(errors).toMatchObject([{ code: 'VALIDATION' }, { class: 'needs_review', code: 'NUMBER_CONFLICT' }]);
    });
  });
});

long('no other step is used for a company that the search confirms or that needs review', async () => {
  await withFallback(['lookup', 'website', 'registry', 'autocomplete'], async ({ company, leads, rows, runRows }) => {
    const other = { ...rows[0], website: leads.website };
    const mistyped = { name: company.name, country: 'GB', registration_number: NOBODYS_NUMBER, website: leads.website };
    const { rows: ended, sent } = await runRows([other, mistyped]);
    expect(ended.map(({ outcome, error_code }) => [outcome, error_code])).toEqual([
      ['complete', ''],
      ['needs_review', 'NUMBER_CONFLICT'],
    ]);
    expect(new Set(sent)).toEqual(new Set(['searchKyb', 'fullKyb']));
  });
});

long('an account without v1 uses these steps, too', async () => {
  await withFallback(
    ['website'],
    async ({ company, leads, runRows }) => {
      const { rows, sent, candidates } = await runRows([{ ...NOBODY, website: leads.website }]);
      expect(sent).toEqual(['kybSearch', 'kybSearch', 'enrichCompanyByWebsite', 'kybSearch']);
      expect(rows).toMatchObject([{ outcome: 'needs_review', error_code: 'NUMBER_CONFLICT' }]);
      expect(candidates).toMatchObject([{ id: company.v2Id, api: 'v2' }]);
    },
    { pipeline: ['stages: [financials, credit-report]'] },
  );
});

long('if a pipeline begins to follow leads, only rows without a match are searched for', async () => {
  await withFallback(['website'], async ({ company, cwd, leads, kybatch, rows, runRows, sandbox }) => {
    const known = { ...rows[0], website: '' };
    const list = [
      { ...known, website: 'https://known.example' },
      { ...known, ...NOBODY, vat_number: '', id: 'nobody', website: leads.website },
    ];
    writeFileSync(join(cwd, 'without.yaml'), 'stages: [record]');
    const first = await runRows(list, ['--pipeline', './without.yaml']);
    expect(first.end.outcomes).toMatchObject({ complete: 1, no_match: 1 });
    const plan = jsonOf<{ to_search: number }>(await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json']));
    // A search without a result is free.
    expect(plan).toMatchObject({ to_search: 1, v2_calls: { at_least: 0, at_most: 1 } });
    const second = await runRows(list);
    expect(second.sent).toEqual(['enrichCompanyByWebsite', 'searchKyb']);
    expect(second.rows.map(({ outcome }) => outcome)).toEqual(['complete', 'needs_review']);
    expect(second.candidates).toMatchObject([{ id: expect.anything() }, { id: company.v1Id }]);
    // In turns with a list that does not follow them: the companies stay, and nothing is paid twice.
    const third = await runRows(list, ['--pipeline', './without.yaml']);
    expect(third.sent).toEqual([]);
    expect(third.rows.map(({ outcome }) => outcome)).toEqual(['complete', 'no_match']);
    expect(chargedAgain(sandbox.chargeLog)).toEqual([]);
  });
});

function spelled(body: string, { registrationNumber }: { readonly registrationNumber: string }): string {
  return body.replace(
    `"${registrationNumber}"`,
    JSON.stringify(`${registrationNumber.slice(0, 4)} ${registrationNumber.slice(4)}`),
  );
}
