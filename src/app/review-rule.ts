import { createHash } from 'node:crypto';
import type { Recorded } from '../ledger/review.js';
import { giveAnswer } from '../review/give-answer.js';
import type { Choice, Question } from '../review/questions.js';
import { type LeftOut, type Rule, rulingOn } from '../review/rule.js';
import { askedQuestions, type WhichQuestions } from './asked-questions.js';
import { type DeciderOptions, decider } from './decider.js';
import { type ReleasedRun, releasedRuns } from './released-runs.js';
import { here, withLedger } from './surroundings.js';

/** What a rule would answer, and what it leaves to people who look at each. */
export interface RuleProposal {
  readonly by: string;
  readonly answers: readonly RuleAnswer[];
  readonly leftOut: ReadonlyMap<LeftOut, number>;
}

export interface RuleAnswer {
  readonly question: Question;
  /** Who is confirmed; undefined: nobody is meant. */
  readonly choice: Choice | undefined;
}

export interface RuleOptions extends DeciderOptions, WhichQuestions {
  readonly rule: Rule;
  /** The rule in words: it is noted with each decision. */
  readonly note: string;
  /** Asked once, before anything is written. */
  readonly agree: (proposal: RuleProposal) => Promise<boolean>;
}

export interface RuleView extends RuleProposal {
  readonly outcome: 'answered' | 'not_agreed' | 'nothing_fits';
  /** All that was said now, by this name: so it can be taken back at once. */
  readonly batch: string | null;
  readonly decided: number;
  /** Those that wait for a second person. */
  readonly held: number;
  readonly released: readonly ReleasedRun[];
}

/** One answer to all questions that fit a rule: one decision each, with the rule as its note. */
export function answerByRule(options: RuleOptions, around = here()): Promise<RuleView> {
  return withLedger('existing', options, around, async (ledger) => {
    const by = decider(options, around);
    const proposal = propose(await askedQuestions(options, ledger, around), options.rule, by);
    const nothing = { ...proposal, batch: null, decided: 0, held: 0, released: [] };
    if (proposal.answers.length === 0) return { ...nothing, outcome: 'nothing_fits' };
    if (!(await options.agree(proposal))) return { ...nothing, outcome: 'not_agreed' };
    const now = around.clock.now();
    const { note, rule } = options;
    const batch = nameOf(proposal, note, now);
    const recorded: readonly Recorded[] = await Promise.all(
      proposal.answers.map(({ question, choice }) =>
        giveAnswer(ledger.review, question, { verdict: rule.verdict, choice, by, note, batch }, now),
      ),
    );
    const held = recorded.filter(({ kind }) => kind === 'held').length;
    const rows = recorded.flatMap(({ released }) => released);
    const released = await releasedRuns(rows, ledger);
    return { ...proposal, outcome: 'answered', batch, decided: recorded.length - held, held, released };
  });
}

function propose(questions: readonly Question[], rule: Rule, by: string): RuleProposal {
  const answers: RuleAnswer[] = [];
  const leftOut = new Map<LeftOut, number>();
  for (const question of questions) {
    const ruling = rulingOn(question, rule, by);
    if (ruling.kind === 'answers') answers.push({ question, choice: ruling.choice });
    else leftOut.set(ruling.why, (leftOut.get(ruling.why) ?? 0) + 1);
  }
  return { by, answers, leftOut };
}

/** `R-…`: no spreadsheet takes it for a number, and no two batches have the same. */
function nameOf({ by, answers }: RuleProposal, note: string, now: number): string {
  const said = JSON.stringify([by, note, now, answers.map(({ question }) => question.id)]);
  return `R-${createHash('sha256').update(said).digest('hex').slice(0, 8)}`;
}
