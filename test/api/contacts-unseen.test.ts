import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeIssues, plainWords } from '../../src/api/schema.js';

test('a problem with an e-mail or phone number is reported by its kind, and no address is shown elsewhere', () => {
  const seen = { company_phone: '+4477009001234', emailAddress: 'a@b.example', size: 'ask a@b.example' };
  const schema = z.object({ company_phone: z.array(z.string()), emailAddress: z.boolean(), size: z.boolean() });
  const { error } = schema.safeParse(seen, { error: plainWords });
  expect(error === undefined ? [] : describeIssues(error, seen)).toEqual([
    'company_phone: expected a list, got a text',
    'emailAddress: expected true or false, got a text',
    'size: expected true or false, got "ask (removed)"',
  ]);
});
