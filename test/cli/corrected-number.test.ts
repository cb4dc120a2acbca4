import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { expect, test } from 'vitest';
import { long } from '../helpers/long.js';
import { sheetColumns } from '../helpers/review-sheet.js';
import { type EndJson, type Job, jsonOf, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--json', '--yes', '--concurrency', '1'];

type Line = Record<string, string>;

/** Fills in some lines of the sheet of questions and hands it back. */
async function answer({ kybatch, cwd }: Job, cells: Line, at: readonly number[] = [0]): Promise<number | null> {
  expect((await kybatch(['review', 'export', '--out', 'q.csv', '--force'])).code).toBe(0);
  const path = join(cwd, 'q.csv');
  const lines: Line[] = parse(readFileSync(path), { bom: true, columns: sheetColumns });
  expect(lines.length).toBeGreaterThan(0);
  for (const place of at) Object.assign(lines.at(place) ?? {}, cells);
  writeFileSync(path, stringify(lines, { header: true }));
  return (await kybatch(['review', 'apply', 'q.csv', '--by', 'anna', '--json'])).code;
}

test('a question that is answered with the right number is searched again, confirmed and remembered', () =>
  withJob({ pipeline: ['stages: [record]'] }, async (job) => {
    const { rows, writeCsv, kybatch, sandbox, cwd } = job;
    const [company, other] = rows.slice(0, 2) as [Job['rows'][number], Job['rows'][number]];
    // The number of another company: its name contradicts.
    const wrong = { ...company, registration_number: other.registration_number, vat_number: '' };
    writeCsv('in.csv', [wrong]);
    expect(jsonOf<EndJson>(await kybatch(RUN)).outcomes).toMatchObject({ needs_review: 1 });
    expect(await answer(job, { corrected_number: company.registration_number ?? '' })).toBe(0);
    const end = await kybatch(['resume', '--yes', '--json']);
    expect(jsonOf<EndJson>(end).outcomes).toMatchObject({ complete: 1 });
    const [shown] = parse(readFileSync(join(cwd, 'data', 'exports', jsonOf<EndJson>(end).run, 'results.csv')), {
      bom: true,
      columns: true,
    }) as Line[];
    expect(company.registration_number).toContain(shown?.matched_registration_number);
    expect(shown?.reason).toContain('anna');
    // In another list this row costs at most a search, and asks no question.
    writeFileSync(join(cwd, 'again.csv'), readFileSync(join(cwd, 'in.csv')));
    const before = sandbox.chargeLog.length;
    const again = await kybatch(RUN.map((word) => (word === 'in.csv' ? 'again.csv' : word)));
    expect(jsonOf<EndJson>(again).outcomes).toMatchObject({ complete: 1 });
    expect(sandbox.chargeLog.length).toBe(before);
    const { decisions } = jsonOf<{ decisions: { id: number; corrected_number: string; candidate_id: null }[] }>(
      await kybatch(['review', 'decisions', '--json']),
    );
    expect(decisions).toMatchObject([{ corrected_number: company.registration_number, candidate_id: null }]);
    // Without the decision, the question is open again.
    expect((await kybatch(['review', 'withdraw', String(decisions[0]?.id), '--json'])).code).toBe(0);
    expect(jsonOf<EndJson>(await kybatch(RUN)).outcomes).toMatchObject({ needs_review: 1 });
  }));

long('a corrected number without a company is a question again, or no match', () =>
  withJob({ pipeline: ['stages: [record]'] }, async (job) => {
    const { rows, writeCsv, kybatch, cwd } = job;
    const [company, other] = rows.slice(0, 2) as [Job['rows'][number], Job['rows'][number]];
    const corrected = 'Köln HRB 999983';
    const wrong = { ...company, registration_number: other.registration_number ?? '', vat_number: '' };
    // Without the name of a company, no search finds it.
    writeCsv('in.csv', [wrong, { ...wrong, id: 'unknown', name: 'Qqxyzzy Vornax' }]);
    await kybatch(RUN);
    expect(await answer(job, { corrected_number: corrected }, [0, -1])).toBe(0);
    const end = jsonOf<EndJson>(await kybatch(['resume', '--yes', '--json']));
    expect(end.outcomes).toMatchObject({ needs_review: 1, no_match: 1 });
    const reasons = ({ run }: EndJson) => {
      const path = join(cwd, 'data', 'exports', run, 'results.csv');
      return (parse(readFileSync(path), { bom: true, columns: true }) as Line[]).map(({ reason }) => reason);
    };
    // Both the open question and the row without a company name the number that was searched for.
    const named = Array.from({ length: 2 }, () => expect.stringMatching(new RegExp(`^anna .*${corrected}`)));
    expect(reasons(end)).toEqual(named);
    const { questions } = jsonOf<{ questions: object[] }>(await kybatch(['review', 'list', '--json']));
    expect(questions).toMatchObject([{ corrected_number: corrected }]);
    // The first question was replaced by one about the corrected number. Its answer is still recorded.
    const again = await kybatch(['review', 'apply', 'q.csv', '--by', 'anna', '--json']);
    expect(jsonOf<object>(again)).toMatchObject({ applied: 0, unchanged: 2, refused: [] });
    // The sheet shows the corrected number, and is read back with it.
    expect(await answer(job, { decision: 'none_of_these' })).toBe(0);
    expect(readFileSync(join(cwd, 'q.csv'), 'utf8')).toContain(corrected);
    const last = jsonOf<EndJson>(await kybatch(['resume', '--yes', '--json']));
    expect(last.outcomes).toMatchObject({ no_match: 2 });
    expect(reasons(last)).toEqual(named);
  }),
);
