import { type QuestionPageView, questionPage } from '../../app/review/question-pages.js';
import {
  answerByRule,
  decisions as listDecisions,
  previewRule,
  type RuleOptions,
  type RulePreview,
  withdrawBatch,
  withdrawDecision,
} from '../../app/review/review.js';
import { decisionJson, furtherTopic, LEFT_OUT, reasonName } from '../../cli/terminal/review-words.js';
import { UsageError } from '../../domain/errors.js';
import { readGradePattern } from '../../domain/grade-order.js';
import { type Html, html, joined } from '../../util/html.js';
import { message } from '../../util/message-parts.js';
import { count, iso, withCommas } from '../../util/words.js';
import { button, chip, dataTable, facetRow, firstItem, heading, hiddenFields, pager, panel, time } from '../layout.js';
import { type Action, csvOf, mayDo, screen } from '../site.js';
import { decisionName, GRADE_WORDS, selectionOf, selectionQuery } from './review.js';

type DecisionEntry = Awaited<ReturnType<typeof listDecisions>>[number];
type Rule = RuleOptions['rule'];

export const decisionsScreen = screen<{ readonly decisions: readonly DecisionEntry[] }>({
  path: '/decisions',
  nothing: { decisions: [] },
  async load(_, { options, environment }) {
    return { decisions: await listDecisions(options, environment) };
  },
  json: ({ decisions }) => ({ decisions: decisions.map(decisionJson) }),
  show({ decisions, at }, request, { user }) {
    const from = firstItem(request);
    const mayDecide = mayDo(user.role, 'decide');
    return {
      title: 'Decisions',
      body: html`${heading('Decisions', count(decisions.length, 'decision'))}
${dataTable(
  ['Decision', 'Your company', 'Meant', 'Who', 'When', 'Why', ''],
  decisions.slice(from, from + request.pageSize).map((entry) => {
    const [yours, found] = entry.summary.split(' → ');
    return [
      html`${stateOf(entry)}<br><span class="dim">${joined([`No. ${entry.id}`, furtherTopic(entry)], ' · ')}</span>`,
      yours,
      found ?? decisionName(entry),
      joined([entry.decidedBy, entry.secondBy], ' and '),
      time(entry.decidedAt, at),
      joined([entry.note, entry.batch && html`<code>${entry.batch}</code>`], ' · '),
      mayDecide && entry.withdrawnAt === null && withdrawForms(entry),
    ];
  }),
  'No decision yet.',
)}${pager(request, from, decisions.length)}`,
    };
  },
  csv: csvOf(({ decisions }) => decisions, {
    id: (one) => one.id,
    decision: (one) => one.decision,
    summary: (one) => one.summary,
    decided_by: (one) => one.decidedBy,
    second_by: (one) => one.secondBy,
    decided_at: (one) => iso(one.decidedAt),
    note: (one) => one.note,
    batch: (one) => one.batch,
    withdrawn_by: (one) => one.withdrawnBy,
  }),
});

function stateOf(entry: DecisionEntry): Html {
  const { decision, held, withdrawnAt, withdrawnBy } = entry;
  const words = decisionName(entry);
  if (withdrawnAt !== null) return html`${words} ${chip('detail', `withdrawn by ${withdrawnBy ?? 'unknown'}`)}`;
  if (held) return html`${words} ${chip('attention', 'waits for a second person')}`;
  return html`${words} ${decision === 'not_sure' ? chip('detail', 'stays open') : chip('done', 'in force')}`;
}

const withdrawForms = ({ id, batch }: DecisionEntry): Html =>
  html`<div class="row">${button('/decisions/withdraw', 'Withdraw', { id: String(id) })}${batch !== null && button('/decisions/withdraw', 'Withdraw the whole rule', { batch })}</div>`;

export const withdrawAction: Action = {
  path: '/decisions/withdraw',
  needs: 'decide',
  async run(form, _, { options, environment, user }) {
    const batch = form.get('batch');
    const by = user.name;
    if (batch !== null) {
      const { decisions, rows } = await withdrawBatch({ ...options, batch, by }, environment);
      const words = `${count(decisions.length, 'decision')} of ${batch} withdrawn. ${count(rows, 'row')} used them.`;
      return { message: message('BATCH_WITHDRAWN', words) };
    }
    const { id, rows } = await withdrawDecision({ ...options, id: Number(form.get('id')), by }, environment);
    return { message: message('DECISION_WITHDRAWN', `Decision ${id} withdrawn. ${count(rows, 'row')} used it.`) };
  },
};

interface RuleScreenView {
  readonly rule: Rule;
  /** Null: no reason is chosen. */
  readonly proposal: RulePreview | null;
  /** The reasons and grades to choose from. */
  readonly facets: QuestionPageView['facets'];
}

/** The rule of an address or a form: `confirm` with the least grade, or `none_of_these`. */
function ruleOf(query: URLSearchParams): Rule {
  if (query.get('verdict') === 'none_of_these') return { verdict: 'none_of_these' };
  const given = query.get('min') || query.get('grade') || 'AAZAZ';
  const minGrade = readGradePattern(given);
  if (minGrade === undefined)
    throw new UsageError('GRADE_INVALID', `"${given}" is no grade`, 'A grade has five letters of A, B, Z, F or ?.');
  return { verdict: 'confirm', minGrade };
}

export const ruleScreen = screen<RuleScreenView>({
  path: '/review/rule',
  async load({ query }, { options, environment, user }) {
    const selection = selectionOf(query);
    const rule = ruleOf(query);
    const isChosen = selection.filter.reasons !== undefined;
    const asked = { ...options, ...selection, by: user.name, size: 1 };
    return {
      rule,
      facets: (await questionPage(asked, environment)).facets,
      proposal: isChosen
        ? await previewRule({ ...options, ...selection, rule, by: user.name, shown: PROPOSED_SHOWN }, environment)
        : null,
    };
  },
  json: ({ rule, proposal }) => ({
    rule,
    questions: proposal?.answers,
    leftOut: Object.fromEntries(proposal?.leftOut ?? []),
  }),
  show({ rule, proposal, facets }, { path, query }, { user }) {
    const back = `/review${selectionQuery(query)}`;
    const fields = hiddenFields(new URLSearchParams(selectionQuery(query)));
    const isConfirm = rule.verdict === 'confirm';
    const form = html`<form class="row" method="get" action="/review/rule">${fields}<label><input type="radio" name="verdict" value="confirm"${isConfirm && html` checked`}> Confirm the only candidate with at least the grade</label><input name="min" size="6" aria-label="Least grade" value="${isConfirm ? rule.minGrade : 'AAZAZ'}"><label><input type="radio" name="verdict" value="none_of_these"${!isConfirm && html` checked`}> None of these, if there is no candidate</label><button>Show</button></form>`;
    return {
      title: 'Answer by rule',
      body: html`${heading('Answer all that fit', html`One decision each. You can withdraw them together · <a href="${back}">back to the questions</a>`)}
${
  proposal === null
    ? html`<p>A rule answers questions of one kind. Choose a reason:</p><p class="row facets">${facets.reason.map(({ value, questions }) => value !== null && html`<a class="chip" href="/review/rule${selectionQuery(query, { reason: value })}">${reasonName(value)} <b>${withCommas(questions)}</b></a>`)}</p>`
    : html`${panel('Rule', html`${form}<p class="dim">Five letters: ${GRADE_WORDS} A question mark fits any letter. A different number is never confirmed.</p>${isConfirm && facetRow('Best grades', 'min', facets.bestGrade, { path, query })}`)}
${proposed(proposal)}
${
  proposal.answers.length > 0 &&
  mayDo(user.role, 'decide') &&
  html`<form class="row" method="post" action="/review/rule">${fields}${hiddenFields(Object.entries({ verdict: rule.verdict, min: isConfirm ? rule.minGrade : '', expected: String(proposal.answers.length) }))}<input name="note" placeholder="Note" aria-label="Note" maxlength="500"><button class="primary">${isConfirm ? 'Confirm' : 'Reject'} ${count(proposal.answers.length, 'question')} as ${proposal.by}</button></form>`
}`
}`,
    };
  },
});

const PROPOSED_SHOWN = 50;

const proposed = ({ answers, leftOut, shown }: RulePreview): Html =>
  html`${dataTable(
    ['Your company', 'Your number', 'Candidate', 'Number', 'Grade'],
    shown.map(({ question, choice }) => [
      html`<a href="/review/${encodeURIComponent(question.id)}">${question.input.name ?? question.id}</a>`,
      question.input.registration_number,
      choice?.name ?? 'none of these',
      choice?.registrationNumber,
      html`<code>${choice?.matchGrade}</code>`,
    ]),
    'The rule answers none of the questions.',
  )}${answers.length > shown.length && html`<p class="sub">${withCommas(answers.length - shown.length)} more</p>`}
${
  leftOut.size > 0 &&
  panel(
    'Left to a person',
    html`<ul>${[...leftOut].map(([why, questions]) => html`<li>${withCommas(questions)}: ${LEFT_OUT[why]}</li>`)}</ul>`,
  )
}`;

export const ruleAction: Action = {
  path: '/review/rule',
  needs: 'decide',
  async run(form, _, { options, environment, user }) {
    const selection = selectionOf(form);
    const rule = ruleOf(form);
    if (selection.filter.reasons === undefined) throw new UsageError('REASON_MISSING', 'choose a reason first');
    const words = `rule: ${rule.verdict === 'confirm' ? `the only candidate, grade at least ${rule.minGrade}` : 'no candidate'}; ${[...new URLSearchParams(selectionQuery(form))].map((part) => part.join(' ')).join(', ')}`;
    const note = [form.get('note')?.trim(), words].filter(Boolean).join('; ');
    // The person agreed to what was shown. More questions than that need another look.
    const agree: RuleOptions['agree'] = async ({ answers }) => answers.length <= Number(form.get('expected'));
    const asked = { ...options, ...selection, rule, note, by: user.name, agree };
    const { outcome, decided, held, batch } = await answerByRule(asked, environment);
    if (outcome !== 'answered') {
      const changed = 'The questions have changed. Nothing was decided. Look again.';
      return { message: message('RULE_NOT_APPLIED', changed, 'attention') };
    }
    const waits = held > 0 ? ` ${count(held, 'answer')} wait for a second person.` : '';
    const undo = `To undo: withdraw the rule ${batch} under Decisions.`;
    const done = message('RULE_APPLIED', `${count(decided, 'question')} decided.${waits} ${undo}`);
    return { to: `/review${selectionQuery(form)}`, message: done };
  },
};
