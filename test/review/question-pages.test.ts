import { expect, test } from 'vitest';
import { oneQuestion, questionPage } from '../../src/app/review/question-pages.js';
import { recordKey } from '../../src/domain/entity-key.js';
import { facetsOf, matchesFilter } from '../../src/review/filter.js';
import {
  openQuestions,
  questionId,
  readQuestions,
  summarizeOpenQuestions,
  withDecisions,
} from '../../src/review/questions.js';
import { recordAnswer } from '../../src/review/record-answer.js';
import { whyInWords } from '../../src/review/words.js';
import { systemClock } from '../../src/util/clock.js';
import { ledgerEnvironment } from '../helpers/ledger-place.js';
import { type Desk, withDesk } from './with-ledger.js';

/** One question of each kind: several rows, no candidate, about an answer, one candidate that can be confirmed. */
async function askAll({ ask }: Desk): Promise<void> {
  await ask({ row: 1, key: 'one', code: 'NAME_ONLY', candidates: [{ id: 'a', matchGrade: 'ZAZAZ' }, { id: 'b' }] });
  await ask({ row: 2, key: 'none', code: 'NUMBER_UNREADABLE', candidates: [] });
  await ask({ row: 3, key: 'two rows', at: 5, candidates: [{ id: 'c', matchGrade: 'AAZAZ' }] });
  await ask({
    row: 4,
    key: 'two rows',
    at: 6,
    code: 'VAT_ONLY',
    candidates: [{ id: 'c', matchGrade: 'FAZAZ' }, { id: 'd' }],
  });
  const bought = recordKey(
    { id: 'e', registration_number: '1', country_code: 'DE' },
    { registration_number: '2', country_code: 'DE' },
  );
  await ask({
    row: 5,
    key: bought,
    stage: 'record',
    code: 'IDENTITY_MISMATCH',
    candidateId: 'e',
    candidates: [{ id: 'e', matchGrade: 'AAZAZ' }, { id: 'f' }],
  });
  await ask({
    row: 6,
    key: 'only g',
    candidateId: 'g',
    candidates: [
      { id: 'h', matchGrade: 'AAAAA' },
      { id: 'g', matchGrade: 'BBZAZ' },
    ],
  });
  await ask({ row: 9, key: 'Austrian', candidates: [{ id: 'i', countryCode: 'AT' }] });
}

/** The expected facts, from the full questions. */
const expected = async ({ review }: Desk) =>
  (await openQuestions(review)).map((question) => ({
    environmentId: question.environmentId,
    entityKey: question.entityKey,
    code: question.code,
    stage: question.stage,
    countryCode: question.countryCode,
    candidates: question.candidates.map(({ id, matchGrade, countryCode }) => ({ id, matchGrade, countryCode })),
    decision: question.decision,
    held: question.held,
  }));

const summaries = async ({ review }: Desk) => await withDecisions(await summarizeOpenQuestions(review), review);

test.each([false, true])('summaries equal the questions themselves (second person: %s)', (secondPerson) =>
  withDesk(
    async (desk) => {
      await askAll(desk);
      expect(await summaries(desk)).toEqual(await expected(desk));
      const [one, , two, , only, austrian] = await openQuestions(desk.review);
      if (!one || !two || !only || !austrian) throw new Error('there are too few questions');
      await recordAnswer(desk.review, one, { verdict: 'not_sure', by: 'anna' }, 7);
      await recordAnswer(desk.review, two, { verdict: 'confirm', choice: two.candidates[0], by: 'anna' }, 7);
      await recordAnswer(desk.review, only, { verdict: 'none_of_these', by: 'anna' }, 7);
      // Asked again after the decision, with other candidates.
      await desk.ask({ row: 6, key: 'only g', at: 9, candidates: [{ id: 'j' }] });
      await recordAnswer(desk.review, austrian, { verdict: 'confirm', choice: austrian.candidates[0], by: 'anna' }, 7);
      await desk.ask({ row: 9, key: 'Austrian', at: 9 });
      const found = await summaries(desk);
      expect(found).toEqual(await expected(desk));
      expect(found.map(({ decision }) => decision?.decision)).toContain('not_sure');
      expect(found.some(({ held }) => held.length > 0)).toBe(secondPerson);
      expect((await summarizeOpenQuestions(desk.review, ['second'])).size).toBe(0);
    },
    { secondPerson },
  ),
);

const environmentOf = async ({ folder }: Desk) => ({
  env: { ...(await ledgerEnvironment(folder)), KYBATCH_DATA_DIR: folder },
  cwd: folder,
  clock: systemClock,
});

test('a page has exact counts, and a value of a facet can be exchanged for another', () =>
  withDesk(async (desk) => {
    await askAll(desk);
    const environment = await environmentOf(desk);
    const all = await openQuestions(desk.review);
    const first = await questionPage({ size: 4 }, environment);
    expect(first).toMatchObject({ open: 6, fitting: 6, page: 1, pages: 2, facets: facetsOf(all) });
    const last = await questionPage({ size: 4, page: 9 }, environment);
    expect(last.page).toBe(2);
    expect([...first.questions, ...last.questions]).toEqual(all);

    const filter = { reasons: ['NAME_CONFLICT'], countryCode: 'DE' };
    const some = await questionPage({ filter }, environment);
    expect(some.questions).toEqual(all.filter((question) => matchesFilter(question, filter)));
    expect(some.facets.reason).toEqual(facetsOf(all.filter(({ countryCode }) => countryCode === 'DE')).reason);
    expect(some.facets.country).toEqual([
      { value: 'AT', questions: 1 },
      { value: 'DE', questions: 1 },
    ]);
  }));

test('an answer changes the next reading of the page', () =>
  withDesk(async (desk) => {
    await askAll(desk);
    const environment = await environmentOf(desk);
    const { questions } = await questionPage({}, environment);
    const [one] = questions;
    if (one === undefined) throw new Error('there is no question');
    await recordAnswer(desk.review, one, { verdict: 'none_of_these', by: 'anna' }, 7);
    const after = await questionPage({}, environment);
    expect(after.open).toBe(5);
    expect(after.questions.map(({ id }) => id)).not.toContain(one.id);
  }));

test('one question has its neighbours and the differences of each candidate', () =>
  withDesk(async (desk) => {
    await askAll(desk);
    const environment = await environmentOf(desk);
    const all = await openQuestions(desk.review);
    const ids = all.map(({ id }) => id);
    const view = await oneQuestion({ question: ids[2] ?? '' }, environment);
    expect(view).toMatchObject({ question: all[2], position: 3, fitting: 6, previous: ids[1], next: ids[3] });
    expect(view.compared.map(({ choice }) => choice.id)).toEqual(['d', 'c']);
    expect(view.compared[1]?.fields.map(({ field, agreement }) => `${field} ${agreement}`)).toEqual([
      'number different',
      'name same',
      'VAT not_compared',
      'country same',
      'place not_compared',
    ]);
    // A question about bought data has its own number.
    const bought = await oneQuestion({ question: ids[3] ?? '' }, environment);
    expect(bought.compared[0]?.fields[0]).toEqual({
      field: 'number',
      agreement: 'different',
      yours: '00123456',
      theirs: '2',
    });
    const filtered = await oneQuestion({ question: ids[2] ?? '', filter: { countryCode: 'AT' } }, environment);
    expect(filtered).toMatchObject({ position: null, fitting: 1, previous: null, next: ids[5] });
  }));

test('a decided question can still be looked at, an unknown one cannot', () =>
  withDesk(async (desk) => {
    await askAll(desk);
    const environment = await environmentOf(desk);
    const [one] = await openQuestions(desk.review);
    if (one === undefined) throw new Error('there is no question');
    await recordAnswer(desk.review, one, { verdict: 'none_of_these', by: 'anna' }, 7);
    const view = await oneQuestion({ question: one.id }, environment);
    expect(view.question).toEqual(
      (await readQuestions(desk.review)).find((question) => questionId(question) === one.id),
    );
    expect(view).toMatchObject({ position: null, question: { open: false, decision: { decidedBy: 'anna' } } });
    await expect(oneQuestion({ question: 'Q-0' }, environment)).rejects.toMatchObject({ code: 'QUESTION_NOT_FOUND' });
  }));

test('a question has the other cells of its row, and whether its company is confirmed elsewhere', () =>
  withDesk(async ({ ask, review }) => {
    await ask({ row: 8, key: 'credit', space: 'credit', knownIn: 'v1', candidates: [{ id: 'a' }] });
    await ask({ row: 9, key: 'Austrian', candidates: [{ id: 'i' }] });
    const [known, unknown] = await openQuestions(review);
    expect(known).toMatchObject({ isKnown: true, otherCells: [], rows: [{ list: 'first', row: 8 }] });
    expect(unknown).toMatchObject({ isKnown: false, otherCells: [{ text: 'Zumtobel Lighting' }] });
    expect([known, unknown].map((one) => one && whyInWords(one) === one.message)).toEqual([false, true]);
  }));

test('a question about several rows shows every place and VAT number of theirs', () =>
  withDesk(async ({ ask, review }) => {
    await ask({ row: 1, key: 'two rows' });
    await ask({ row: 7, key: 'two rows' });
    const [question] = await openQuestions(review);
    expect(question?.input).toMatchObject({ city: 'Köln', vat_number: 'DE117316966', registration_number: '00123456' });
  }));

test('a candidate with another name and no equal number comes last', () =>
  withDesk(async ({ ask, review }) => {
    const graded = ['ZFZAZ', 'FAZAZ', 'AAZAZ'].map((matchGrade) => ({ id: matchGrade, matchGrade }));
    await ask({ row: 1, key: 'one', candidates: graded });
    const [question] = await openQuestions(review);
    expect(question?.candidates.map(({ id }) => id)).toEqual(['AAZAZ', 'FAZAZ', 'ZFZAZ']);
  }));
