import type { Ledger, RowRef } from '../ledger/ledger.js';
import { type Answer, giveAnswer } from './answer.js';
import type { Question } from './questions.js';
import { questionInWords } from './words.js';

export interface Session {
  readonly questions: readonly Question[];
  /** One key a time; the end of it ends the session. */
  readonly keys: AsyncIterable<string>;
  readonly print: (text: string) => void;
  readonly ledger: Ledger;
  readonly by: string;
  readonly now: () => number;
}

export interface SessionEnd {
  readonly decided: number;
  readonly left: number;
  readonly released: readonly RowRef[];
}

/**
 * One question at a time. Each answer is on disk before the next question is shown, so that quitting loses nothing;
 * undo withdraws the last one and goes back to it.
 */
export async function runSession(session: Session): Promise<SessionEnd> {
  const { questions, print, now, ledger, by } = session;
  const keys = session.keys[Symbol.asyncIterator]();
  const given: { position: number; id: number; released: readonly RowRef[] }[] = [];
  let position = 0;
  let page = 0;
  let note = '';
  const show = () => {
    const question = questions[position];
    if (question === undefined) return;
    const count = `\n[${position + 1} of ${questions.length}] `;
    print(`${count}${questionInWords(question, page * PAGE, PAGE)}${note === '' ? '' : `  note: ${note}\n`}`);
    print(`  ${keysInWords(question)} `);
  };
  const goTo = (next: number) => {
    position = next;
    page = 0;
    note = '';
    show();
  };
  const answer = async (question: Question, said: Pick<Answer, 'verdict' | 'choice'>) => {
    const { id, released } = await giveAnswer(ledger, question, { ...said, by, note }, now());
    given.push({ position, id, released });
    print(
      `${said.choice === undefined ? said.verdict.replaceAll('_', ' ') : `confirmed: ${said.choice.name ?? said.choice.id}`}\n`,
    );
    goTo(position + 1);
  };
  const undo = async () => {
    const last = given.pop();
    if (last === undefined) {
      print('there is nothing to undo\n');
      return;
    }
    await ledger.withdrawDecision(last.id, by, now());
    print('taken back\n');
    goTo(last.position);
  };

  try {
    show();
    // After the last question undo and quit are still possible.
    while (position < questions.length || given.length > 0) {
      if (position >= questions.length) print('\nThat was the last question. u undoes, any other key ends. ');
      const { value: key, done } = await keys.next();
      if (done === true || ENDS.has(key)) break;
      const question = questions[position];
      if (key === 'u') await undo();
      else if (question === undefined) break;
      else if (key === 'n') await answer(question, { verdict: 'none_of_these' });
      else if (key === 's') await answer(question, { verdict: 'not_sure' });
      else if (key === 'k' || key === ' ') {
        print('left for later\n');
        goTo(position + 1);
      } else if (key === 'm' && question.candidates.length > PAGE) {
        page = (page + 1) % Math.ceil(question.candidates.length / PAGE);
        show();
      } else if (key === 't') {
        note = await readText(keys, print);
        show();
      } else {
        const choice = /^[1-9]$/.test(key) ? question.candidates[page * PAGE + Number(key) - 1] : undefined;
        if (choice !== undefined) await answer(question, { verdict: 'confirm', choice });
        else if (key.trim() !== '') print(`\n  ${keysInWords(question)} `);
      }
    }
  } finally {
    await keys.return?.();
  }
  const decided = new Set(given.map((one) => one.position));
  return {
    decided: decided.size,
    left: questions.length - decided.size,
    released: given.flatMap(({ released }) => released),
  };
}

const PAGE = 9;
/** q, Ctrl-C, Ctrl-D. */
const ENDS: ReadonlySet<string> = new Set(['q', '\u0003', '\u0004']);

function keysInWords({ candidates }: Question): string {
  const count = Math.min(PAGE, candidates.length);
  return [
    ...(count === 0 ? [] : [count === 1 ? '1 confirm' : `1-${count} confirm`]),
    'n none of these',
    's not sure',
    't note',
    ...(candidates.length > PAGE ? ['m more'] : []),
    'k skip',
    'u undo',
    'q quit',
  ].join(' · ');
}

/** A line of text, key by key; Enter ends it. */
async function readText(keys: AsyncIterator<string>, print: (text: string) => void): Promise<string> {
  print('\n  note: ');
  let text = '';
  for (;;) {
    const { value: key, done } = await keys.next();
    if (done === true || key === '\r' || key === '\n') return text.trim();
    if (key === '\u001b' || key === '\u0003') return '';
    if (key === '\u007f' || key === '\b') {
      if (text !== '') print('\b \b');
      text = [...text].slice(0, -1).join('');
    } else if (!/^\p{Cc}/u.test(key)) {
      text += key;
      print(key);
    }
  }
}
