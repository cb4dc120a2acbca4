import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeIssues, plainWords } from '../../src/api/schema.js';

test('a problem with an e-mail or phone number is reported by its kind, and no address is shown elsewhere', () => {
  const seen = { company_phone: '+4477009001234', emailAddress: 'a@b.example', size: 'ask a@b.example' };
  const schema = z.object({ company_phone: z.array(z.string()), emailAddress: z.boolean(), size: z.boolean() });
  const { error } = schema.safeParse(seen, { error: plainWords });
  const problems = error === undefined ? [] : describeIssues(error, seen);
  expect(problems.map((problem) => problem.split(':')[0])).toEqual(['company_phone', 'emailAddress', 'size']);
  expect(problems.join()).not.toMatch(/7700|b\.example/);
});
