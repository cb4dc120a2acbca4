import { describe, expect, test } from 'vitest';
import { defaultMatchPolicy } from '../../src/domain/decide.js';
import { readQuestion } from '../../src/domain/subject.js';
import { record } from '../../src/stages/record.js';
import { resolve } from '../../src/stages/resolve.js';
import type {
  Asked,
  CallRequest,
  CallResult,
  Company,
  QuestionState,
  Remembered,
  StageContext,
  StagePolicy,
} from '../../src/stages/stage.js';

interface Scene {
  /** What each search finds, in the order they are made; nothing once they are used up. */
  readonly finds?: readonly object[][];
  readonly remembered?: Remembered;
  readonly search?: Partial<StagePolicy['search']>;
  readonly record?: object;
}

function scene({ finds = [], remembered, search, record: bought = {} }: Scene) {
  const sent: CallRequest['params'][] = [];
  const kept: (Asked & QuestionState)[] = [];
  const context: StageContext = {
    policy: {
      search: {
        attempts: 5,
        order: ['registration_number', 'vat_number', 'name'],
        furtherSpellings: true,
        ...search,
      },
      match: defaultMatchPolicy,
      provenance: false,
      idsShared: false,
      report: { reuseExpired: false, firstPollMs: 1, pollAtMostMs: 1, giveUpAfterMs: 1 },
    },
    now: () => 0,
    call: async (request) => {
      sent.push(request.params);
      const body = request.operation === 'fullKyb' ? { lite: bought } : (finds[sent.length - 1] ?? []);
      return { kind: 'answer', body: Buffer.from(JSON.stringify(body)), owned: false, fetchedAt: 0 } as CallResult;
    },
    keepCandidates: () => {},
    keepQuestion: (question, state) => kept.push({ ...question, ...state }),
    remembered: async () => remembered,
    reportHistory: async () => undefined,
    spendCreditReport: () => {
      throw new Error('nothing is generated here');
    },
  };
  return { context, sent, kept };
}

function company(fields: Parameters<typeof readQuestion>[0]): Company {
  const reading = readQuestion(fields);
  if (!reading.ok) throw new Error(reading.message);
  return { row: 1, question: reading.question, v1: null, v2: null, creditSourceId: null, creditReportId: null };
}

const candidate = (id: string, change: object = {}) => ({
  id,
  name: 'Acme Widgets Ltd',
  registration_number: '01234567',
  vat_number: null,
  country_code: 'GB',
  ...change,
});

const acme = company({
  name: 'Acme Widgets Ltd',
  country: 'GB',
  registration_number: '01234567',
  vat_number: 'GB999999973',
});
const conflict = company({ name: 'Something Else plc', country: 'GB', registration_number: '01234567' });

describe('V1-21 searches', () => {
  test('stop as soon as a candidate can be confirmed', async () => {
    const { context, sent } = scene({ finds: [[candidate('1')]] });
    expect(await resolve('v1', acme, context)).toMatchObject({ kind: 'done' });
    expect(sent).toEqual([{ location: 'GB', registration_number: '01234567' }]);
  });

  test('stop when a person has to choose anyway', async () => {
    const { context, sent } = scene({ finds: [[candidate('1'), candidate('2')]] });
    expect(await resolve('v1', acme, context)).toMatchObject({ kind: 'needs_review', code: 'SEVERAL_CANDIDATES' });
    expect(sent).toHaveLength(1);
  });

  test('go from the number to the VAT number to the name, in the order of the policy', async () => {
    const { context, sent } = scene({});
    expect(await resolve('v1', acme, context)).toMatchObject({ kind: 'no_match' });
    expect(sent.map((params) => Object.keys(params)[1])).toEqual(['registration_number', 'vat_number', 'name']);
    const other = scene({ search: { order: ['name', 'registration_number'] } });
    await resolve('v1', acme, other.context);
    expect(other.sent.map((params) => Object.keys(params)[1])).toEqual(['name', 'registration_number']);
  });

  test('V1-1 never cost more than the policy allows', async () => {
    for (const attempts of [1, 2]) {
      const { context, sent } = scene({ search: { attempts } });
      await resolve('v1', acme, context);
      expect(sent).toHaveLength(attempts);
    }
  });

  test('a further spelling of the number is a search of its own, and only if allowed', async () => {
    const belgian = company({ country: 'BE', registration_number: '0403170701', name: 'Solvay' });
    const forms = async (furtherSpellings: boolean) => {
      const { context, sent } = scene({ search: { furtherSpellings } });
      await resolve('v1', belgian, context);
      return sent.map((params) => Object.keys(params)[1]);
    };
    expect(await forms(false)).toEqual(['registration_number', 'name']);
    // The name finds a company also where its number was mistyped, so it comes before another spelling.
    expect((await forms(true)).slice(0, 3)).toEqual(['registration_number', 'name', 'registration_number']);
  });
});

describe('a question', () => {
  test('is kept as it was asked, and again when a remembered answer is used', async () => {
    const first = scene({ finds: [[candidate('1')]] });
    expect(await resolve('v1', conflict, first.context)).toMatchObject({ kind: 'needs_review', code: 'NAME_CONFLICT' });
    expect(first.kept).toMatchObject([{ about: 'v1', answered: false, code: 'NAME_CONFLICT' }]);
    const remembered: Remembered = { decision: 'confirm', candidateId: '1', shown: ['1'] };
    const second = scene({ finds: [[candidate('1')]], remembered });
    const outcome = await resolve('v1', conflict, second.context);
    expect(outcome).toMatchObject({ kind: 'done', facts: { v1: { candidate: { id: '1' }, matchedOn: 'review' } } });
    expect(second.kept).toMatchObject([{ about: 'v1', answered: true, key: first.kept[0]?.key }]);
  });

  test.each([
    ['none_of_these, the same candidates', { decision: 'none_of_these', candidateId: null, shown: ['1'] }, 'no_match'],
    [
      'none_of_these, but a new candidate',
      { decision: 'none_of_these', candidateId: null, shown: ['9'] },
      'needs_review',
    ],
    ['a confirmed candidate that is gone', { decision: 'confirm', candidateId: '9', shown: ['9'] }, 'needs_review'],
    ['not_sure', { decision: 'not_sure', candidateId: null, shown: ['1'] }, 'needs_review'],
  ] as const)('%s: %j → %s', async (_, remembered, kind) => {
    const { context } = scene({ finds: [[candidate('1')]], remembered });
    expect(await resolve('v1', conflict, context)).toMatchObject({ kind });
  });

  test('a person who refused a candidate is not overruled when it would be confirmed today', async () => {
    const remembered: Remembered = { decision: 'none_of_these', candidateId: null, shown: ['1'] };
    const refused = scene({ finds: [[candidate('1')]], remembered });
    expect(await resolve('v1', acme, refused.context)).toMatchObject({ kind: 'no_match', code: 'REVIEWED' });
    const another = scene({ finds: [[candidate('1'), candidate('2')]], remembered });
    expect(await resolve('v1', acme, another.context)).toMatchObject({ facts: { v1: { candidate: { id: '2' } } } });
  });

  test('V2-4 each ID space has its own', async () => {
    const keys = [];
    for (const identity of ['v1', 'v2', 'credit'] as const) {
      const { context, kept } = scene({ finds: [[candidate('1'), candidate('2')]] });
      await resolve(identity, acme, context);
      keys.push(...kept.map(({ about, key }) => ({ about, key })));
    }
    expect(keys.map(({ about }) => about)).toEqual(['v1', 'v2', 'credit']);
    expect(keys[2]?.key).toBe(`credit|${keys[1]?.key}`);
  });
});

describe('the bought record', () => {
  const confirmed: Company = {
    ...acme,
    v1: {
      candidate: { ...candidate('1'), state: null, jurisdiction: null },
      matchedOn: 'registration_number',
      grade: 'AAZAZ',
    },
  };
  const same = { registration_number: '01234567', country_code: 'GB' };
  const differs = { registration_number: '07654321', country_code: 'GB' };

  test.each([
    ['the same number', same, 'done'],
    ['another number', differs, 'needs_review'],
    ['another country', { ...same, country_code: 'IE' }, 'needs_review'],
    ['no number', { country_code: 'GB' }, 'needs_review'],
  ] as const)('%s: %j → %s', async (_, bought, kind) => {
    const { context } = scene({ record: bought });
    expect(await record(confirmed, context)).toMatchObject({ kind });
  });

  test('a person accepts the difference, or refuses the company; another difference is another question', async () => {
    const asked = scene({ record: differs });
    expect(await record(confirmed, asked.context)).toMatchObject({ code: 'IDENTITY_MISMATCH', grade: 'AAZAZ' });
    expect(asked.kept).toMatchObject([{ about: 'record', candidateId: '1', answered: false }]);
    const accepted = scene({ record: differs, remembered: { decision: 'confirm', candidateId: '1', shown: ['1'] } });
    expect(await record(confirmed, accepted.context)).toMatchObject({
      kind: 'done',
      facts: { v1: { matchedOn: 'review' } },
    });
    const refused = scene({
      record: differs,
      remembered: { decision: 'none_of_these', candidateId: null, shown: ['1'] },
    });
    expect(await record(confirmed, refused.context)).toMatchObject({ kind: 'no_match', facts: { v1: null } });
    const other = scene({ record: { ...differs, registration_number: '07654322' } });
    await record(confirmed, other.context);
    expect(other.kept[0]?.key).not.toBe(asked.kept[0]?.key);
  });
});
