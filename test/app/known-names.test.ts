/** @module-tag long */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Job } from '../cli/here.js';
import { withNights } from './nights.js';

const withSeniority = (name: string) => [
  'stages: [financials, contacts]',
  'ids_shared: [v2, employees]',
  `contacts: {from: employees, seniority: [${name}], department: [4]}`,
];
const wrong = withSeniority('Direktor');
const right = withSeniority('director');

const write = ({ cwd }: Pick<Job, 'cwd'>, lines: readonly string[]) =>
  writeFileSync(join(cwd, 'p.yaml'), lines.join('\n'));

describe('vocabulary names in a pipeline', () => {
  test('an unknown name is refused before anything is bought, with file, key, value and suggestions', () =>
    withNights(
      2,
      async (nights) => {
        const { kybatch, sandbox, night } = nights;
        const refused = await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes']);
        expect(refused).toMatchObject({ code: 2, codes: expect.arrayContaining(['UNKNOWN_NAME']) });
        expect(refused.stderr).toMatch(/p\.yaml: contacts\.seniority: .*"Direktor".*Director/);
        expect(sandbox.chargeLog).toEqual([]);
        expect((await kybatch(['runs'])).stdout).not.toContain('in.csv');
        write(nights, right);
        expect((await night()).code).toBe(0);
        // The vocabulary is stored: neither the check nor a row asks for it again.
        expect(sandbox.requests.get('nomenclature')).toBe(1);
        await night();
        expect(sandbox.requests.get('nomenclature')).toBe(1);
      },
      wrong,
    ));

  test('without an answer the run continues, and failed requests are sent again once the file is right', () =>
    withNights(
      2,
      async (nights) => {
        const { kybatch, sandbox, night } = nights;
        sandbox.script(({ operation }) => operation === 'nomenclature', [500, 500, 500]);
        const { end } = await night();
        expect(end.outcomes).toMatchObject({ failed: 2 });
        const charged = sandbox.chargeLog.length;
        const retried = await kybatch(['resume', '--failed', '--yes']);
        expect(retried).toMatchObject({ code: 2, codes: ['UNKNOWN_NAME'] });
        // The run keeps its pipeline, so only another run helps.
        expect(retried.stderr).toContain('`kybatch run`');
        expect(sandbox.chargeLog).toHaveLength(charged);
        write(nights, right);
        const again = await night();
        expect(again.end.outcomes).toMatchObject({ complete: 2, failed: 0 });
      },
      wrong,
    ));

  test('texts for the search by domain are sent as they are, without a lookup', () =>
    withNights(
      1,
      async ({ night, sandbox }) => {
        expect((await night()).code).not.toBe(2);
        expect(sandbox.requests.get('nomenclature')).toBeUndefined();
      },
      ['stages: [contacts]', 'contacts: {seniority: [Direktor]}'],
    ));
});
