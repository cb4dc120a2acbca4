/** @module-tag long */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.js';
import type { Company } from '../../src/sandbox/registry/types.js';
import { wholeCompanies } from '../engine/support.js';
import { type Job, type JobOptions, jsonOf, withJob } from './here.js';

/** Companies of whose people something can be revealed. */
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

describe('V2-11 reveals are charged: how many is said before, and after', () => {
  test('by domain: the plan, the question, the start and the end name them, for people and as JSON', () =>
    withTwo(['stages: [contacts]', 'contacts: {reveal: [email, phone], reveal_at_most: 2}'], async (job) => {
      const { kybatch, sandbox } = job;
      expect((await kybatch(['plan', ...JOB])).stdout).toContain(
        'up to 4 reveals of e-mail, 4 of phone: each is charged, and no budget bounds them',
      );
      expect(jsonOf<Told>(await kybatch(['plan', ...JOB, '--json'])).reveals_at_most).toEqual({ email: 4, phone: 4 });
      const questions: string[] = [];
      const answers = (question: string) => {
        questions.push(question);
        return 'yes';
      };
      const { stderr } = await kybatch(['run', ...JOB], { answers });
      expect(questions.join()).toMatch(/^Spend up to \d+ v2 calls, with up to 4 reveals of e-mail, 4 of phone/);
      expect(stderr).toMatch(/2 rows to go, at most \d+ v2 calls, with up to 4 reveals of e-mail, 4 of phone/);
      const [email, phone] = [asked(sandbox, 'email'), asked(sandbox, 'phone')];
      expect(email).toBeGreaterThan(0);
      expect(stderr).toMatch(
        new RegExp(
          `This start has asked for ${email} reveals of e-mail, ${phone} of phone; v2 counts \\(/metrics/contacts\\) e-mail addresses \\d+`,
        ),
      );
      expect(jsonOf<Told>(await kybatch(['plan', ...JOB, '--json'])).reveals_at_most).toEqual({ email: 0, phone: 0 });
      const again = jsonOf<Told>(await kybatch(['run', ...JOB, '--fresh', '--yes', '--json']));
      expect(again.reveals).toMatchObject({ asked: { email, phone }, counted: { email_count: expect.any(Number) } });
    }));

  test('in the employees module both are revealed, whichever is named', () =>
    withTwo(
      [
        'stages: [record, financials, contacts]',
        'ids_shared: [v2, employees]',
        'contacts: {from: employees, reveal: [email]}',
      ],
      async ({ kybatch, sandbox }) => {
        expect((await kybatch(['plan', ...JOB])).stdout).toContain('up to 2 reveals of e-mail, 2 of phone');
        const end = jsonOf<Told>(await kybatch(['run', ...JOB, '--yes', '--json']));
        const profiles = sandbox.requests.get('employeeProfile') ?? 0;
        expect(profiles).toBeGreaterThan(0);
        expect(end.reveals.asked).toEqual({ email: profiles, phone: profiles });
      },
    ));

  test('where nothing is revealed nothing is said of it', () =>
    withTwo(['stages: [contacts]', 'contacts: {details: true}'], async ({ kybatch }) => {
      expect((await kybatch(['plan', ...JOB])).stdout).not.toContain('reveal');
      const { stderr, stdout } = await kybatch(['run', ...JOB, '--yes', '--json']);
      expect(stderr + stdout).not.toContain('reveal');
    }));
});

describe('a budget is a yes only where it bounds what is spent', () => {
  test.each([
    [
      'reveals',
      ['stages: [record, contacts]', 'contacts: {reveal: [email]}'],
      'this pipeline has contacts of people revealed',
    ],
    ['v2 alone', ['stages: [financials]'], '--budget bounds v1 units, and this pipeline spends none'],
  ])('%s: without a terminal --yes is needed as well', (_, pipeline, words) =>
    withTwo(pipeline, async ({ kybatch, sandbox }) => {
      const refused = await kybatch(['run', ...JOB, '--budget', '50']);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
      expect(refused.stderr).toContain('Nothing was spent. Add --yes.');
      expect(sandbox.chargeLog).toEqual([]);
      expect((await kybatch(['run', ...JOB, '--budget', '50', '--yes'])).code).toBe(0);
    }),
  );

  test('v1 units and credit reports: it is one', () =>
    withTwo(['stages: [record]'], async ({ kybatch }) => {
      expect((await kybatch(['run', ...JOB, '--budget', '50'])).code).toBe(0);
    }));
});

test('a start without v1 says how many v2 calls it may make, as its plan does', () =>
  withTwo(['stages: [financials]'], async ({ kybatch }) => {
    const { stderr } = await kybatch(['run', ...JOB, '--yes']);
    expect(stderr).toMatch(/2 rows to go, at most \d+ v2 calls\./);
    expect(stderr).not.toContain('v1 unit');
  }));

test('run, resume and retry write e-mail and phone of people with --include-contacts, and what they suggest carries it on', () =>
  withTwo(['stages: [record, contacts]', 'contacts: {reveal: [email]}'], async ({ kybatch, cwd }) => {
    const header = () => readFileSync(join(cwd, 'out', 'people.csv'), 'utf8').split('\n')[0] ?? '';
    const first = jsonOf<{ readonly run: string; readonly next: string }>(
      await kybatch(['run', ...JOB, '--budget', '2', '--yes', '--out', 'out', '--include-contacts', '--json']),
    );
    expect(first.next).toMatch(/ --out out --include-contacts --yes$/);
    // Also for who comes later.
    expect(jsonOf<typeof first>(await kybatch(['status', '--json'])).next).toContain(' --include-contacts');
    expect((await kybatch(first.next.split(' ').slice(1))).code).toBe(0);
    expect(header()).toContain('email');
    await kybatch(['run', ...JOB, '--yes', '--out', 'out']);
    expect(header()).not.toContain('email');
    await kybatch(['run', ...JOB, '--yes', '--out', 'out', '--include-contacts']);
    expect(header()).toContain('email');
  }));
