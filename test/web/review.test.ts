import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { ManualClock } from '../../src/util/clock.js';
import { withFolder } from '../helpers/cli.js';
import { inLedger, isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { type AskOptions, type Desk, withDesk } from '../review/with-ledger.js';
import { type Page, withPage } from './page.js';

interface QuestionJson {
  readonly question: string;
  readonly basis: string;
  readonly next: string | null;
  readonly position: number | null;
  readonly candidates: readonly { readonly candidate: string }[];
}

interface ReviewJson {
  readonly open: number;
  readonly fitting: number;
  readonly questions: readonly { readonly question: string }[];
  readonly noted: readonly unknown[];
  readonly refused: readonly { readonly code: string }[];
}

const HOSTILE = '<img src=x onerror="alert(1)">';

const QUESTIONS: readonly AskOptions[] = [
  { row: 1, key: 'k1', code: 'NAME_ONLY', candidates: [{ id: 'a', matchGrade: 'AAZAZ', name: HOSTILE }] },
  { row: 2, key: 'k2', code: 'NAME_ONLY', candidates: [{ id: 'b', matchGrade: 'FAZAZ' }] },
  { row: 3, key: 'k3', code: 'VAT_ONLY' },
];

/** A page over a ledger with three questions. `isHeld`: another process has it meanwhile. */
const onPage = (
  use: (
    page: Page & { readonly clock: ManualClock; readonly close: Desk['close']; readonly folder: string },
  ) => Promise<void>,
  options: { readonly role?: 'look'; readonly isHeld?: boolean } = {},
) =>
  withDesk(async (desk) => {
    for (const question of QUESTIONS) await desk.ask(question);
    if (!options.isHeld) await desk.close();
    const clock = new ManualClock(100_000);
    await withPage({ dataDir: desk.folder, clock, ...(options.role && { role: options.role }) }, (page) =>
      use({ ...page, clock, close: desk.close, folder: desk.folder }),
    );
  });

const form = ({ basis, candidates, next }: QuestionJson, choice: string) => ({
  choice,
  basis,
  shown: candidates.map(({ candidate }) => candidate).join(' '),
  next: next ?? '',
  select: '?reason=NAME_ONLY',
});

const decided = (folder: string) =>
  inLedger<{ readonly decision: string }>(folder, 'SELECT decision, decided_by, note FROM decisions ORDER BY id');

/** The page records answers a moment after the last one. */
async function recorded({ clock, json }: Pick<Page, 'json'> & { readonly clock: ManualClock }): Promise<void> {
  for (let tries = 0; tries < 3_000; tries += 1) {
    // Another thread records, so the answer to one more question may come before it.
    if (tries % 100 === 0) clock.advance(3_000);
    if ((await json<ReviewJson>('/review')).noted.length === 0) return;
  }
  throw new Error('the answers still wait');
}

test('questions are filtered, answered one after the other, and undone', () =>
  onPage(async (page) => {
    const { json, get, post, folder } = page;
    const all = await json<ReviewJson>('/review');
    expect(all).toMatchObject({
      open: 3,
      facets: { reason: [{ value: 'NAME_ONLY', questions: 2 }, { value: 'VAT_ONLY' }] },
    });
    const some = await json<ReviewJson>('/review?reason=NAME_ONLY');
    expect(some).toMatchObject({ open: 3, fitting: 2 });
    const address = `/review/${some.questions[0]?.question}`;
    const first = await json<QuestionJson>(`${address}?reason=NAME_ONLY`);
    expect(first).toMatchObject({ position: 1, fitting: 2, next: some.questions[1]?.question });
    const { text } = await get(`${address}?reason=NAME_ONLY`);
    expect(text).not.toContain('<img');
    expect(text).toContain('data-key="1"');

    const answered = await post(`${address}/answer`, {
      ...form(first, first.candidates[0]?.candidate ?? ''),
      note: 'same',
    });
    expect(answered).toMatchObject({ status: 303, headers: { location: `/review/${first.next}?reason=NAME_ONLY` } });
    expect(await json('/review')).toMatchObject({ open: 2, noted: isOnPostgres ? [] : [{ by: 'ann' }] });
    await recorded(page);
    expect(await decided(folder)).toEqual([{ decision: 'confirm', decided_by: 'ann', note: 'same' }]);
    expect(await json('/decisions')).toMatchObject({ decisions: [{ decision: 'confirm', decided_by: 'ann' }] });

    const undo = /name="given" value="(\d+)"/.exec((await get(`/review/${first.next}`)).text)?.[1] ?? '';
    const undone = await post('/review/undo', { question: first.question, given: undo, select: '' });
    expect(undone.headers.location).toBe(address);
    await recorded(page);
    expect(await json('/review')).toMatchObject({ open: 3, refused: [] });
  }));

long('an answer given while another process has the ledger waits, and is recorded afterwards', () =>
  onPage(
    async (page) => {
      const { json, post, clock, close, folder } = page;
      const { questions } = await json<ReviewJson>('/review');
      const address = `/review/${questions[0]?.question}`;
      await post(`${address}/answer`, form(await json(address), 'none_of_these'));
      clock.advance(60_000);
      // A PostgreSQL ledger takes the answer at once.
      expect(await json('/review')).toMatchObject({ open: 2, noted: isOnPostgres ? [] : [{ kind: 'answer' }] });
      if (!isOnPostgres) expect(await post('/decisions/withdraw', { id: '1' })).toMatchObject({ status: 303 });
      await close();
      await recorded(page);
      expect(await decided(folder)).toMatchObject([{ decision: 'none_of_these' }]);
    },
    { isHeld: true },
  ),
);

test('a refused answer leads back to its question with the reason', () =>
  onPage(async ({ json, get, post }) => {
    const { questions } = await json<ReviewJson>('/review');
    const address = `/review/${questions[2]?.question}`;
    const asked = await json<QuestionJson>(address);
    const refused = await post(`${address}/answer`, {
      ...form(asked, 'none_of_these'),
      select: '',
      number: '00123456',
    });
    // The number is typed again in its field, in which digits are no keys.
    expect(refused.headers.location).toBe(`${address}?number=00123456`);
    const { text } = await get(`${address}?number=00123456`);
    expect(text).toContain('class="notice bad"');
    expect(text).toMatch(/name="number"[^>]* value="00123456" autofocus/);
    expect((await get(address)).text).not.toContain('autofocus');
    expect(await json('/review')).toMatchObject({ open: 3, noted: [] });
  }));

long('a corrected number is called that, not "none of these"', () =>
  onPage(async (page) => {
    const { json, get, post } = page;
    const address = `/review/${(await json<ReviewJson>('/review')).questions[0]?.question}`;
    const asked = await json<QuestionJson>(address);
    await post(`${address}/answer`, { ...form(asked, 'none_of_these'), number: 'Amtsgericht Köln HRB 445566' });
    await recorded(page);
    expect(await json('/decisions')).toMatchObject({
      decisions: [{ corrected_number: 'Amtsgericht Köln HRB 445566' }],
    });
    for (const path of [address, '/decisions']) {
      const { text } = await get(path);
      expect(text).toContain('corrected number: Amtsgericht Köln HRB 445566');
      expect(text).not.toContain('none of these');
    }
  }),
);

test('a key that is held, pressed twice or typed in a field does not answer', () => {
  const listeners = new Map<string, (event: object) => void>();
  const listen = (type: string, listener: (event: object) => void) => listeners.set(type, listener);
  class HTMLElement {
    dataset = { key: '1' };
    clicked = 0;
    shown = 0;
    blurred = 0;
    constructor(readonly selectors: string) {}
    matches = (selectors: string) => selectors.includes(this.selectors);
    closest = this.matches;
    click = () => {
      this.clicked += 1;
    };
    animate = () => {
      this.shown += 1;
    };
    blur = () => {
      this.blurred += 1;
    };
  }
  const answer = new HTMLElement('button');
  const document = { addEventListener: listen, querySelector: () => null, querySelectorAll: () => [answer] };
  const script = readFileSync(new URL('../../src/web/static/script.js', import.meta.url), 'utf8');
  runInNewContext(script, { document, addEventListener: listen, HTMLElement });
  const press = (timeStamp: number, given: object = {}) =>
    listeners.get('keydown')?.({ key: '1', target: document, timeStamp, preventDefault() {}, ...given });
  const pressed = (...events: readonly (readonly [number, object?])[]) => {
    answer.clicked = 0;
    for (const [at, given] of events) press(at, given);
    return answer.clicked;
  };
  expect(pressed([100])).toBe(0);
  expect(pressed([5_000], [5_200], [5_400], [8_000, { repeat: true }])).toBe(1);
  expect(answer.shown).toBe(4);
  const note = Object.assign(new HTMLElement('input'), { name: 'note' });
  expect(pressed([20_000, { target: note }], [20_100, { target: note, key: 'Enter' }])).toBe(0);
  expect(note.blurred).toBe(1);
  expect(pressed([25_000, { key: 'Tab' }], [25_100])).toBe(1);
  listeners.get('pageshow')?.({ timeStamp: 30_000 });
  expect(pressed([30_100], [40_000])).toBe(1);
});

test('all that fit a rule are shown first, decided together and withdrawn together', () =>
  onPage(async ({ json, get, post, folder }) => {
    expect(await json('/review/rule')).toMatchObject({ left_out: {} });
    const address = '/review/rule?reason=NAME_ONLY&verdict=confirm&min=AAZAZ';
    const preview = await json<{ readonly questions: readonly unknown[] }>(address);
    expect(preview).toMatchObject({ questions: [{}], left_out: { number_conflict: 1 } });
    expect((await get(address)).text).toContain('name="expected" value="1"');
    const rule = { reason: 'NAME_ONLY', verdict: 'confirm', min: 'AAZAZ' };
    await post('/review/rule', { ...rule, expected: '0' });
    expect(await decided(folder)).toEqual([]);
    await post('/review/rule', { ...rule, expected: '1' });
    expect(await decided(folder)).toMatchObject([{ decision: 'confirm' }]);
    const { decisions } = await json<{ readonly decisions: readonly { readonly batch: string }[] }>('/decisions');
    await post('/decisions/withdraw', { batch: decisions[0]?.batch ?? '' });
    expect(await json('/decisions')).toMatchObject({ decisions: [{ withdrawn_by: 'ann' }] });
    expect(await json('/review')).toMatchObject({ open: 3 });
  }));

test('the list and the question name the file that a row is in', () =>
  onPage(async ({ get, json }) => {
    const { questions } = await json<ReviewJson>('/review');
    for (const path of ['/review', `/review/${questions[0]?.question}`])
      expect((await get(path)).text).toContain('first, row 1 (line 2)');
  }));

test('a reader sees questions and decisions, but no form', () =>
  onPage(
    async ({ json, get, post }) => {
      const { questions } = await json<ReviewJson>('/review');
      const address = `/review/${questions[0]?.question}`;
      for (const path of ['/review', address, '/decisions', '/review/rule?reason=NAME_ONLY'])
        expect((await get(path)).text).not.toContain('method="post"');
      expect(await post(`${address}/answer`, form(await json(address), 'not_sure'))).toMatchObject({ status: 403 });
    },
    { role: 'look' },
  ));

test('without a ledger there is nothing to review', () =>
  withFolder((folder) =>
    withPage({ dataDir: folder }, async ({ json, get }) => {
      expect(await json('/review')).toMatchObject({ open: 0 });
      expect(await get('/decisions')).toMatchObject({ status: 200 });
    }),
  ));
