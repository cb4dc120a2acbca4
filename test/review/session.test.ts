import { describe, expect, test } from 'vitest';
import { correctedNumber } from '../../src/domain/entity-key.js';
import { openQuestions } from '../../src/review/questions.js';
import { runSession, type SessionEnd } from '../../src/review/session.js';
import type { Keys, Screen } from '../../src/review/terminal.js';
import { expectGolden } from '../helpers/golden.js';
import { long } from '../helpers/long.js';
import { NO_GROUNDS } from '../ledger/support.js';
import { type Desk, withDesk } from './with-ledger.js';

/** A text, or keys that are more than one character or none. */
type Burst = string | readonly string[];

type Sat = Promise<SessionEnd & { text: string }>;

const press = (desk: Desk, keys: readonly Burst[], by = 'anna', screen?: Screen): Sat =>
  sit(desk, typing(keys), by, screen);

async function sit({ review }: Desk, keys: Keys, by = 'anna', screen?: Screen): Sat {
  let text = '';
  const end = await runSession({
    questions: await openQuestions(review),
    keys,
    print: (part) => {
      text += part;
    },
    review,
    by,
    now: () => 7,
    groundsOf: NO_GROUNDS,
    screen: screen && (() => screen),
  });
  return { ...end, text };
}

/** Keys that come at once are one piece. Its rest can be dropped. */
function typing(bursts: readonly Burst[]): Keys {
  let pending: string[] = [];
  return {
    async *[Symbol.asyncIterator]() {
      for (const burst of bursts) {
        pending = [...burst];
        for (let key = pending.shift(); key !== undefined; key = pending.shift()) yield key;
      }
      return undefined;
    },
    drop: async () => {
      pending = [];
    },
  };
}

const asked = (desk: Desk, ...rows: number[]) =>
  Promise.all(rows.map((row) => desk.ask({ row, key: `k${row}`, message: `question ${row}` })));

test('c takes the corrected number, an unreadable one is reported, and Escape leaves the question', () =>
  withDesk(async (desk) => {
    await asked(desk, 1, 2);
    const end = await press(desk, ['c', 'none\r', 'c', '\u001b', 'c', 'Köln HRB 445566\r', 'c', '778\u0003']);
    expect(end).toMatchObject({ decided: 1, left: 1, interrupted: true, released: [{ row: 1 }] });
    const decision = await desk.remembered('k1');
    expect(decision && correctedNumber(decision)).toBe('Köln HRB 445566');
    expect(await desk.remembered('k2')).toBeUndefined();
  }));

test('a refused number is typed again, and its digits answer nothing', () =>
  withDesk(async (desk) => {
    await asked(desk, 1, 2, 3);
    const retyped = ['c', 'none\r', 'nothing\r', ...'Köln HRB 1121', '\r'];
    const back = ['c', 'none\r', '\r', 'c', 'none\r', ...'12', '\u001b'];
    expect(await press(desk, [...retyped, ...back, 'q'])).toMatchObject({ decided: 1, left: 2 });
    const decision = await desk.remembered('k1');
    expect(decision && correctedNumber(decision)).toBe('Köln HRB 1121');
    expect(await desk.remembered('k2')).toBeUndefined();
  }));

test('a number that the terminal did not finish is no answer', () =>
  withDesk(async (desk) => {
    await asked(desk, 1);
    expect(await press(desk, ['c', '1234'])).toMatchObject({ decided: 0, left: 1 });
  }));

test('keys that came too soon answer nothing, and the person is informed once', () =>
  withDesk(async (desk) => {
    await asked(desk, 1);
    const { text } = await press(desk, [[''], 'q']);
    expect(await press(desk, [[''], [''], 'q'])).toMatchObject({ text, decided: 0, left: 1 });
    expect((await press(desk, ['q'])).text).not.toBe(text);
  }));

test('one key per question: confirm, none of these, not sure', () =>
  withDesk(async (desk) => {
    await asked(desk, 1, 2, 3);
    const end = await press(desk, ['2', 'n', 's', 'q']);
    expect(end).toMatchObject({ decided: 2, notSure: 1, left: 0, released: [{ row: 1 }, { row: 2 }] });
    expect(await desk.remembered('k1')).toMatchObject({ decision: 'confirm', candidateId: 'b', decidedBy: 'anna' });
    expect(await desk.remembered('k2')).toMatchObject({ decision: 'none_of_these' });
    expect(await desk.remembered('k3')).toMatchObject({ decision: 'not_sure' });
    expect(end.text).toContain('[2 of 3]');
    expect(end.text).toMatch(/ 1-2 .* · n .* · s .* · c .*\n {2}t .* · k .* · u .* · q /);
  }));

test('undo withdraws the last answer and shows its question again', () =>
  withDesk(async (desk) => {
    await asked(desk, 1, 2);
    const end = await press(desk, ['1', '1', 'u', 'u', 'u', 'n', 'q']);
    expect(end).toMatchObject({ decided: 1, left: 1 });
    expect(await desk.remembered('k1')).toMatchObject({ decision: 'none_of_these' });
    expect(await desk.remembered('k2')).toBeUndefined();
    expect(await desk.outcome(2)).toBe('needs_review');
  }));

test('another key drops an incomplete number, and does not reach an earlier answer', () =>
  withDesk(async (desk) => {
    await asked(desk, 1);
    await desk.ask({ row: 2, key: 'k2', candidates: Array.from({ length: 12 }, (_, index) => ({ id: `c${index}` })) });
    const end = await press(desk, ['2', '1', 'u', 'q']);
    expect(end).toMatchObject({ decided: 1, left: 1 });
    expect(await desk.remembered('k1')).toMatchObject({ decision: 'confirm', candidateId: 'b' });
    expect(await desk.remembered('k2')).toBeUndefined();
    expect(await press(desk, ['1', 'u', '1', '\r', 'q'])).toMatchObject({ decided: 1 });
    expect(await desk.remembered('k2')).toMatchObject({ candidateId: 'c0' });
  }));

test('a candidate that looks like another company needs a second key', () =>
  withDesk(async (desk) => {
    await asked(desk, 1);
    await desk.ask({ row: 2, key: 'k2', candidates: [{ id: 'x', matchGrade: 'ZFZAZ' }] });
    expect(await press(desk, ['1', '1', 'u', '1', 'q'])).toMatchObject({ decided: 1, left: 1 });
    expect(await desk.remembered('k2')).toBeUndefined();
    expect(await press(desk, ['1', 'y', 'q'])).toMatchObject({ decided: 1 });
    expect(await desk.remembered('k2')).toMatchObject({ decision: 'confirm', candidateId: 'x' });
  }));

test('quitting and a closed terminal keep the answers', () =>
  withDesk(async (desk) => {
    await asked(desk, 1, 2, 3);
    expect(await press(desk, ['1', '\u0003', '1'])).toMatchObject({ decided: 1, left: 2, interrupted: true });
    expect(await press(desk, ['1'])).toMatchObject({ decided: 1, left: 1, interrupted: false });
    expect(await press(desk, [])).toMatchObject({ decided: 0, left: 1 });
  }));

test('skipped questions stay open, and other keys show the help', () =>
  withDesk(async (desk) => {
    await asked(desk, 1, 2);
    const end = await press(desk, ['k', 'x', '9', '1']);
    expect(end).toMatchObject({ decided: 1, left: 1 });
    expect(await desk.remembered('k1')).toBeUndefined();
    expect(await desk.remembered('k2')).toMatchObject({ candidateId: 'a' });
  }));

test('a note is typed before the answer', () =>
  withDesk(async (desk) => {
    await asked(desk, 1);
    await press(desk, ['t', 'o', 'k', '!', '\u007f', '\r', '1', 'q']);
    expect(await desk.remembered('k1')).toMatchObject({ candidateId: 'a', note: 'ok' });
  }));

test.each([
  ['text typed at once answers only one question', ['11', 'q'], 'k2'],
  ['text after an undo is no answer', ['1', 'u1', 'q'], 'k1'],
  ['text after a note is no answer', ['tok\r1', 'q'], 'k1'],
  ['text after a number without a candidate is no answer', ['91', 'q'], 'k1'],
  ['text after a key without a meaning is no answer', ['x1', 'q'], 'k1'],
])('%s', (_, keys, key) =>
  withDesk(async (desk) => {
    await asked(desk, 1, 2);
    await press(desk, keys);
    expect(await desk.remembered(key)).toBeUndefined();
  }),
);

test('keys typed before the first question is on the screen are no answer', () =>
  withDesk(async (desk) => {
    await asked(desk, 1);
    const pressed = ['1'];
    const keys: Keys = {
      async *[Symbol.asyncIterator]() {
        for (let key = pressed.shift(); key !== undefined; key = pressed.shift()) yield key;
        return undefined;
      },
      drop: async () => void pressed.splice(0),
    };
    expect(await sit(desk, keys)).toMatchObject({ decided: 0, left: 1 });
  }));

test('Ctrl-C in a note ends the session and keeps earlier answers', () =>
  withDesk(async (desk) => {
    await asked(desk, 1, 2);
    const end = await press(desk, ['1', 't', 'hm', '\u0003', '1']);
    expect(end).toMatchObject({ decided: 1, left: 1, interrupted: true });
    expect(await desk.remembered('k2')).toBeUndefined();
  }));

test('undo brings the note back with the question', () =>
  withDesk(async (desk) => {
    await asked(desk, 1);
    const end = await press(desk, ['t', 'o', 'k', '\r', 's', 'u', 'n', 'q']);
    expect(end.text.split('[1 of 1]').at(-1)).toContain('note: ok');
    expect(await desk.remembered('k1')).toMatchObject({ decision: 'none_of_these', note: 'ok' });
  }));

test('a note stays with its question when it is skipped, undone or edited, and Escape leaves it unchanged', () =>
  withDesk(async (desk) => {
    await asked(desk, 1);
    const keys = ['t', 'o', 'k', '\r', 's', 'u', 't', '!', '\r', 't', 'x', '\u001b', 'n', 'q'];
    const end = await press(desk, keys);
    expect(end.text).toContain('note: ok!\n');
    expect(end).toMatchObject({ decided: 1, notSure: 0, left: 0 });
    expect(await desk.remembered('k1')).toMatchObject({ decision: 'none_of_these', note: 'ok!' });
  }));

describe('a small terminal', () => {
  const screen = { rows: 11, columns: 60 };
  const askThree = (desk: Desk) => desk.ask({ row: 1, key: 'k', candidates: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] });

  test('shows as many candidates as fit, the others on further pages, and confirms only visible ones', () =>
    withDesk(async (desk) => {
      await askThree(desk);
      const first = await press(desk, ['3', 'q'], 'anna', screen);
      expect(first.text).toMatch(/ 1 to 2 of 3 /);
      expect(first.text).toMatch(/ · m /);
      expect(await desk.remembered('k')).toBeUndefined();
      await press(desk, ['m', '2', 'm', 'm', '3', 'q'], 'anna', screen);
      expect(await desk.remembered('k')).toMatchObject({ candidateId: 'c' });
    }));

  test('shows the question again when a message would move it off the screen', () =>
    withDesk(async (desk) => {
      await askThree(desk);
      const { text } = await press(desk, ['x', 'x', '9', '3', 'q'], 'anna', screen);
      expect(text.split('[1 of 1]').length).toBeGreaterThan(2);
      const last = text.split('[1 of 1]').at(-1) ?? '';
      expect(last.trimEnd().split('\n').at(-1)).toMatch(/ 3 /);
      expect(last.trimEnd().split('\n').length).toBeLessThanOrEqual(screen.rows);
    }));

  test('has words for keys that cannot be used now', () =>
    withDesk(async (desk) => {
      await askThree(desk);
      const { text } = await press(desk, ['u', '3', 'q'], 'anna', screen);
      await expectGolden('session', [['undo at first, and a candidate on another page', text]]);
    }));

  test('shows at least one candidate', () =>
    withDesk(async (desk) => {
      await askThree(desk);
      const { text } = await press(desk, ['m', 'm', 'm', 'q'], 'anna', { rows: 3, columns: 10 });
      expect([...text.matchAll(/(\d) to (\d) of 3 /g)].map(([, from, to]) => `${from}-${to}`)).toEqual([
        '1-1',
        '2-2',
        '3-3',
        '1-1',
      ]);
    }));
});

describe('more than nine candidates', () => {
  const askEleven = (desk: Desk) =>
    desk.ask({ row: 1, key: 'k', candidates: Array.from({ length: 11 }, (_, index) => ({ id: `c${index + 1}` })) });

  long.each([
    [['m', '1', '1'], 'c11'],
    [['m', '1', '0'], 'c10'],
    [['1', '\r'], 'c1'],
    [['2'], 'c2'],
    [['m', 'm', '1', '\r'], 'c1'],
    [['1', '\u007f', '3'], 'c3'],
  ])('keys %j confirm %s', (keys, id) =>
    withDesk(async (desk) => {
      await askEleven(desk);
      await press(desk, [...keys, 'q']);
      expect(await desk.remembered('k')).toMatchObject({ candidateId: id });
    }),
  );

  long('for keys that confirm no candidate the reason is shown', async () => {
    const answers: [string, string][] = [];
    for (const keys of [
      ['m', '1'],
      ['m', '1', '\r'],
      ['m', '2'],
      ['1', '1'],
      ['1', '2'],
      ['1', 'x', '\r'],
    ])
      await withDesk(async (desk) => {
        await askEleven(desk);
        const { text } = await press(desk, [...keys, 'q']);
        expect(await desk.remembered('k')).toBeUndefined();
        answers.push([JSON.stringify(keys), text.replaceAll(/^ {5,}.*\n/gm, '').trim()]);
      });
    await expectGolden('session-no-candidate', answers);
  });

  test('keep their numbers on the second page', () =>
    withDesk(async (desk) => {
      await askEleven(desk);
      const { text } = await press(desk, ['m', 'q']);
      const [, , second = ''] = text.split('[1 of 1]');
      expect(second).toMatch(/^ +10 {2}Müller/m);
      expect(second).not.toMatch(/^ +1 {2}Müller/m);
      expect(second).toContain(' 10 to 11 of 11 ');
      expect(second).toMatch(/^ +10-11 /m);
    }));
});

test('the best candidate comes first, in any original order', () =>
  withDesk(async (desk) => {
    const grades = ['FAAAA', 'ZAZAZ', 'AFZAZ', 'ABZAZ'];
    const candidates = grades.map((matchGrade) => ({ id: matchGrade, matchGrade, evidence: matchGrade }));
    await desk.ask({ row: 1, key: 'k', candidates });
    const { text } = await press(desk, ['1', 'q']);
    expect(text.match(/(?<=^ {9})[ABZF]{5}$/gm)).toEqual(['ABZAZ', 'AFZAZ', 'ZAZAZ', 'FAAAA']);
    expect(await desk.remembered('k')).toMatchObject({ candidateId: 'ABZAZ' });
  }));

test('names from outside cannot control the terminal', () =>
  withDesk(async (desk) => {
    await desk.ask({ row: 1, key: 'k', candidates: [{ id: 'a', name: 'Evil\u001b[2J\u202eLtd' }] });
    const { text } = await press(desk, ['q']);
    expect(text).toContain('Evil\ufffd[2J\ufffdLtd');
    expect(text).not.toContain('\u001b');
  }));

long('if two people must agree, each sees the result of their answer, and undo withdraws only their own', () =>
  withDesk(
    async (desk) => {
      await asked(desk, 1, 2);
      const first = await press(desk, ['t', 'o', 'k', '\r', '1', 's', 'q']);
      expect(first).toMatchObject({ decided: 0, held: 1, notSure: 1, left: 0, released: [] });
      expect(await desk.remembered('k1')).toBeUndefined();
      const same = await press(desk, ['1', 'q'], 'Anna');
      expect(same).toMatchObject({ decided: 0, held: 0, left: 2 });
      expect(same.text).toContain('--by');
      const other = await press(desk, ['2', 'u', '1', 'u', '1', 'q'], 'bob');
      await expectGolden('session-two-people', [
        ['the first person', first.text],
        ['the same person again', same.text],
        ['another person, who differs and then agrees', other.text],
      ]);
      expect(other).toMatchObject({ decided: 1, held: 0, released: [{ row: 1 }] });
      expect(await desk.remembered('k1')).toMatchObject({ candidateId: 'a', decidedBy: 'anna', note: 'ok' });
    },
    { secondPerson: true },
  ),
);
