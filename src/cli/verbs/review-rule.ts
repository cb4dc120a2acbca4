import { answerByRule, type RuleProposal } from '../../app/review-rule.js';
import { UsageError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import type { Rule } from '../../review/rule.js';
import { aroundOf } from '../around.js';
import { GRADES_IN_WORDS, readGrade, type WhichArgs, whichOf, whichOptions } from '../review-flags.js';
import { agreedTo } from '../terminal/agreed.js';
import { placeFlags } from '../terminal/commands.js';
import type { Io } from '../terminal/io.js';
import { printResultAndWords } from '../terminal/print-result.js';
import { nextCommands, rowsOf } from '../terminal/review-words.js';
import { leftOutToJson, ruleInWords, ruleProposalInWords } from '../terminal/rule-words.js';
import { count } from '../terminal/text.js';
import type { Verb } from '../verb.js';

interface RuleArgs extends WhichArgs {
  readonly run: string | undefined;
  readonly by: string | undefined;
  readonly note: string | undefined;
  readonly all: boolean;
  readonly yes: boolean;
}

const runPositional = { type: 'string', describe: 'Only the questions of this run' } as const;

const ruleOptions = {
  ...whichOptions,
  by: { type: 'string', requiresArg: true, describe: 'Who decides (default: $USER)' },
  note: { type: 'string', requiresArg: true, describe: 'Kept with each decision, before the rule' },
  all: { type: 'boolean', default: false, describe: 'Show each question, not the first 20' },
  yes: { type: 'boolean', default: false, describe: 'Answer without asking' },
} as const;

export const confirmVerb: Verb<RuleArgs> = {
  command: 'confirm [run]',
  describe: 'Confirm the only candidate that reaches a grade, in every question of a reason: shows them, and asks once',
  builder: (yargs) =>
    yargs
      .positional('run', runPositional)
      .options(ruleOptions)
      .example('$0 review confirm --reason NAME_CONFLICT --min-grade AFZAZ --country DE', 'the number decides')
      .epilogue(
        `${GRADES_IN_WORDS} Each letter must be at least as good as that of --min-grade. Never confirmed so: one of several candidates that reach it, one with another number, one with another name unless the second letter is F, what was bought, and what somebody was not sure about. Each is one decision, with the rule as its note; \`kybatch review withdraw --batch\` takes all of them back.`,
      ),
  async run(args, io) {
    if (args.minGrade === undefined)
      throw new UsageError('from which grade on is not said', `Give --min-grade, as AAZAZ. ${GRADES_IN_WORDS}`);
    const minGrade = readGrade('--min-grade', args.minGrade);
    // What has a lower grade is told as that, and not passed over.
    return await answer({ verdict: 'confirm', minGrade }, { ...args, minGrade: undefined }, io);
  },
};

export const rejectVerb: Verb<RuleArgs> = {
  command: 'reject [run]',
  describe: 'Say none_of_these to every question of a reason that has no candidate at all: shows them, and asks once',
  builder: (yargs) =>
    yargs
      .positional('run', runPositional)
      .options(ruleOptions)
      .epilogue(
        'Each is one decision, with the rule as its note; `kybatch review withdraw --batch` takes all of them back.',
      ),
  run: (args, io) => answer({ verdict: 'none_of_these' }, args, io),
};

async function answer(rule: Rule, args: RuleArgs, io: Io): Promise<ExitCode> {
  const { dataDir, run, by, all, yes } = args;
  if (args.reason === undefined)
    throw new UsageError(
      'which reason the rule is about is not said',
      `Give --reason CODE; \`kybatch review list${placeFlags(args)}\` counts the questions of each.`,
    );
  const which = whichOf(args);
  const agree = (proposal: RuleProposal) => agreed(rule, proposal, { all, yes }, io);
  const note = [args.note, noteOf(rule, which.filter)].filter(Boolean).join('; ');
  const view = await answerByRule({ dataDir, run, by, ...which, rule, note, agree }, aroundOf(io));
  if (view.outcome === 'not_agreed') return ExitCode.interrupted;
  const toJson = () => ({
    batch: view.batch,
    decided: view.decided,
    held: view.held,
    questions: view.answers.map(({ question }) => question.id),
    left_out: leftOutToJson(view),
    released_rows: rowsOf(view.released),
    next: nextCommands(view.released, args),
  });
  printResultAndWords(io, args, toJson, ruleInWords(view, args));
  if (view.outcome === 'nothing_fits') io.stderr(`\`kybatch review list${placeFlags(args)}\` shows what is open.\n`);
  return ExitCode.ok;
}

/** The rule as it is noted with each decision, and can be read without this program. */
function noteOf(rule: Rule, { reasons = [], countryCode, grade }: ReturnType<typeof whichOf>['filter']): string {
  const among = [
    `reason ${reasons.join(', ')}`,
    ...(countryCode === undefined ? [] : [`country ${countryCode}`]),
    ...(grade === undefined ? [] : [`grade ${grade}`]),
  ].join(', ');
  return rule.verdict === 'confirm'
    ? `rule: the only candidate, grade at least ${rule.minGrade}; ${among}`
    : `rule: no candidate; ${among}`;
}

function agreed(
  rule: Rule,
  proposal: RuleProposal,
  { all, yes }: Pick<RuleArgs, 'all' | 'yes'>,
  io: Io,
): Promise<boolean> {
  const questions = count(proposal.answers.length, 'question');
  const words = rule.verdict === 'confirm' ? 'confirm the only candidate of' : 'say none_of_these to';
  const show = yes ? io.stderr : io.alert;
  show(ruleProposalInWords(proposal, all));
  const consent = {
    what: `this would ${words} ${questions}, as ${proposal.by}`,
    question: `As ${proposal.by}, ${words} ${questions}?`,
    nothing: 'Nothing was decided.',
  };
  return agreedTo(consent, yes, io);
}
