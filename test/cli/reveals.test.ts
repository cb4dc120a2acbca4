/** @module-tag long */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.js';
import type { Company } from '../../src/sandbox/registry/types.js';
import { wholeCompanies } from '../engine/support.js';
import { type Job, type JobOptions, jsonOf, withJob } from './here.js';

/** Companies with people who can be revealed. */
const withPeople = ({ registry }: Sandbox, companies: readonly Company[]): readonly Company[] =>
  companies.filter((one) => registry.facts(one).website !== null && registry.v2.employees(one).length > 1).slice(0, 2);

/** Two such companies in `in.csv`. */
const withTwo = (pipeline: JobOptions['pipeline'], use: (job: Job) => Promise<void>) =>
  withJob(pipeline === undefined ? {} : { pipeline }, async (job) => {
    const companies = withPeople(job.sandbox, wholeCompanies(job.sandbox, 12));
    job.writeCsv(
      'in.csv',
      companies.map(({ name, countryCode, registrationNumber }) => ({
        name,
        country: countryCode,
        registration_number: registrationNumber,
      })),
    );
    await use(job);
  });

const JOB = ['in.csv', '--pipeline', './p.yaml'];
const asked = ({ requestLog }: Sandbox, what: string): number =>
  requestLog.filter(({ body }) => body.includes(`"reveal_${what}":true`)).length;

interface Told {
  readonly reveals_at_most: { readonly email: number; readonly phone: number };
  readonly reveals: { readonly asked: object; readonly counted: { readonly email_count: number } };
}

describe('V2-11 reveals are charged, and their number is shown before and after', () => {
  test('by domain: plan, question, first line and end show them, for people and as JSON', () =>
    withTwo(['stages: [contacts]', 'contacts: {reveal: [email, phone], reveal_at_most: 2}'], async (job) => {
      const { kybatch, sandbox } = job;
      expect((await kybatch(['plan', ...JOB])).textOf('COST')).toMatch(/ 4 \D* e-mail, 4 \D*phone/);
      expect(jsonOf<Told>(await kybatch(['plan', ...JOB, '--json'])).reveals_at_most).toEqual({ email: 4, phone: 4 });
      const questions: string[] = [];
      const answers = (question: string) => {
        questions.push(question);
        return 'yes';
      };
      const { textOf } = await kybatch(['run', ...JOB], { answers });
      expect(questions.join()).toMatch(/ \d+ v2 .* 4 \D* e-mail, 4 /);
      const [email, phone] = [asked(sandbox, 'email'), asked(sandbox, 'phone')];
      expect(email).toBeGreaterThan(0);
      expect(textOf('CONTACTS_REVEALED')).toMatch(
        new RegExp(` ${email} \\D* e-mail, ${phone} \\D*\\.\n .* v2 .* \\d+`),
      );
      expect(jsonOf<Told>(await kybatch(['plan', ...JOB, '--json'])).reveals_at_most).toEqual({ email: 0, phone: 0 });
      const again = jsonOf<Told>(await kybatch(['run', ...JOB, '--rebuy', '--yes', '--json']));
      expect(again.reveals).toMatchObject({ asked: { email, phone }, counted: { email_count: expect.any(Number) } });
    }));

  test('in the employees module either one reveals both', () =>
    withTwo(
      [
        'stages: [record, financials, contacts]',
        'ids_shared: [v2, employees]',
        'contacts: {from: employees, reveal: [email]}',
      ],
      async ({ kybatch, sandbox }) => {
        expect((await kybatch(['plan', ...JOB])).textOf('COST')).toMatch(/ 2 \D* e-mail, 2 \D*phone/);
        const end = jsonOf<Told>(await kybatch(['run', ...JOB, '--yes', '--json']));
        const profiles = sandbox.requests.get('employeeProfile') ?? 0;
        expect(profiles).toBeGreaterThan(0);
        expect(end.reveals.asked).toEqual({ email: profiles, phone: profiles });
      },
    ));

  test('without reveals no message mentions them', () =>
    withTwo(['stages: [contacts]', 'contacts: {details: true}'], async ({ kybatch }) => {
      expect((await kybatch(['plan', ...JOB])).textOf('COST')).not.toContain('e-mail');
      const { codes, textOf, stdout } = await kybatch(['run', ...JOB, '--yes', '--json']);
      expect(codes).not.toContain('CONTACTS_REVEALED');
      expect(textOf('RUN_STARTED')).not.toContain('e-mail');
      expect(stdout).not.toContain('reveal');
    }));
});

describe('a limit is consent only if it covers the spending', () => {
  test.each([
    ['reveals', ['stages: [record, contacts]', 'contacts: {reveal: [email]}'], 'REVEALS_NOT_CONFIRMED'],
    ['v2 alone', ['stages: [financials]'], 'V2_CALLS_NOT_CONFIRMED'],
    ['credit reports', ['stages: [record, credit-report]'], 'REPORTS_NOT_LIMITED'],
  ])('%s: without a terminal --yes is needed as well', (_, pipeline, refusal) =>
    withTwo(pipeline, async ({ kybatch, sandbox }) => {
      const refused = await kybatch(['run', ...JOB, '--max-units', '50']);
      expect(refused).toMatchObject({ code: 2, codes: [refusal], stderr: expect.stringContaining('--yes') });
      expect(sandbox.chargeLog).toEqual([]);
      expect((await kybatch(['run', ...JOB, '--max-units', '50', '--yes'])).code).toBe(0);
    }),
  );

  test.each([
    [['stages: [record]'], ['--max-units', '50']],
    [['stages: [record, credit-report]'], ['--max-units', '50', '--max-reports', '9']],
    [
      ['stages: [record, credit-report]', 'limits: {credit_reports: 9}'],
      ['--max-units', '50'],
    ],
  ])('%j is covered by %j', (pipeline, flags) =>
    withTwo(pipeline, async ({ kybatch }) => {
      expect((await kybatch(['run', ...JOB, ...flags])).code).toBe(0);
    }),
  );

  test('a limit of reports alone does not cover units', () =>
    withTwo(['stages: [record, credit-report]'], async ({ kybatch, sandbox }) => {
      const refused = await kybatch(['run', ...JOB, '--max-reports', '9']);
      expect(refused).toMatchObject({ code: 2, codes: ['UNITS_NOT_LIMITED'] });
      expect(sandbox.chargeLog).toEqual([]);
    }));
});

test('an attempt without v1 shows the limit of its v2 calls', () =>
  withTwo(['stages: [financials]'], async ({ kybatch }) => {
    const { stderr, textOf } = await kybatch(['run', ...JOB, '--yes']);
    expect(textOf('RUN_STARTED')).toMatch(/: 2 \D+ \d+ v2 calls\.$/);
    expect(stderr).not.toContain('v1 unit');
  }));

test('run, resume and retry write contacts with --include-contacts, and suggested commands keep the flag', () =>
  withTwo(['stages: [record, contacts]', 'contacts: {reveal: [email]}'], async ({ kybatch, cwd }) => {
    const header = () => readFileSync(join(cwd, 'out', 'people.csv'), 'utf8').split('\n')[0] ?? '';
    const first = jsonOf<{ readonly run: string; readonly next: string }>(
      await kybatch(['run', ...JOB, '--max-units', '2', '--yes', '--out', 'out', '--include-contacts', '--json']),
    );
    expect(first.next).toMatch(/ --out out --include-contacts --yes$/);
    // This also holds later.
    expect(jsonOf<typeof first>(await kybatch(['status', '--json'])).next).toContain(' --include-contacts');
    expect((await kybatch(first.next.split(' ').slice(1))).code).toBe(0);
    expect(header()).toContain('email');
    await kybatch(['run', ...JOB, '--yes', '--out', 'out']);
    expect(header()).not.toContain('email');
    await kybatch(['run', ...JOB, '--yes', '--out', 'out', '--include-contacts']);
    expect(header()).toContain('email');
  }));
