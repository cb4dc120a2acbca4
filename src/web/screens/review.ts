import {
  answerQuestion,
  dismissRefusedAnswer,
  type OneAnswerOptions,
  type OwnAnswer,
  ownAnswers,
  refusedAnswers,
  undoAnswer,
  waitingEntries,
} from '../../app/review/answer-question.js';
import {
  type ComparedField,
  type OneQuestionView,
  oneQuestion,
  type QuestionPageOptions,
  type QuestionPageView,
  questionPage,
} from '../../app/review/question-pages.js';
import {
  furtherTopic,
  otherCellsInWords,
  questionJson,
  reasonInWords,
  reasonName,
  topicInWords,
  whyInWords,
} from '../../cli/terminal/review-words.js';
import { correctedNumber } from '../../domain/entity-key.js';
import { readGradePattern } from '../../domain/grade-order.js';
import { type Html, html, joined, type Markup } from '../../util/html.js';
import { message, sentence } from '../../util/message-parts.js';
import { count, rowInWords, withCommas } from '../../util/words.js';
import {
  addressWith,
  box,
  button,
  capitalized,
  chip,
  dataTable,
  dim,
  facetRow,
  firstItem,
  heading,
  hiddenFields,
  NOT_RETURNED,
  pager,
  time,
} from '../layout.js';
import { type Action, csvOf, type Dated, mayDo, type Site, screen } from '../site.js';

type Question = OneQuestionView['question'];
type RefusedAnswer = ReturnType<typeof refusedAnswers>[number];

const placeOf = ({ rows: [row] }: Question): string =>
  row === undefined ? '' : `${row.list}, ${rowInWords(row.row, row.line)}`;

/** The best candidate is first. */
const bestGrade = ({ candidates }: Question): string | undefined => candidates[0]?.matchGrade;

const PARTS = ['reason', 'country', 'grade', 'portfolio', 'run'] as const;

/** The questions that an address or a form means. */
export function selectionOf(query: URLSearchParams) {
  const part = (name: (typeof PARTS)[number]) => query.get(name)?.trim() || undefined;
  const grade = part('grade');
  const filter: NonNullable<QuestionPageOptions['filter']> = {
    reasons: part('reason')?.split(','),
    countryCode: part('country'),
    grade: grade === undefined ? undefined : (readGradePattern(grade) ?? grade),
  };
  return { filter, portfolio: part('portfolio'), run: part('run') };
}

/** The parts of an address that select questions, with some exchanged. An empty text leaves a part out. */
export function selectionQuery(query: URLSearchParams, change: Readonly<Record<string, string>> = {}): string {
  const kept = new URLSearchParams();
  for (const name of PARTS) {
    const value = change[name] ?? query.get(name) ?? '';
    if (value !== '') kept.set(name, value);
  }
  return kept.size === 0 ? '' : `?${kept.toString()}`;
}

interface ReviewView extends QuestionPageView {
  readonly noted: ReturnType<typeof waitingEntries>;
  readonly refused: readonly RefusedAnswer[];
  readonly perPage: number;
}

export const reviewScreen = screen<ReviewView>({
  path: '/review',
  nothing: {
    ...{ open: 0, fitting: 0, page: 1, pages: 1, perPage: 0, questions: [], noted: [], refused: [] },
    facets: { reason: [], country: [], bestGrade: [] },
  },
  async load(request, { options, environment, user }) {
    const { pageSize: size } = request;
    const page = Math.floor(firstItem(request) / size) + 1;
    const asked = { ...options, ...selectionOf(request.query), by: user.name, page, size };
    const noted = waitingEntries(options, environment);
    return {
      ...(await questionPage(asked, environment)),
      perPage: size,
      noted,
      refused: refusedAnswers(options, environment),
    };
  },
  json: ({ noted, refused, questions, perPage: _, ...view }) => ({
    ...view,
    questions: questions.map(questionJson),
    noted: noted.map(({ kind, question, by, at }) => ({ kind, question, by, at })),
    refused: refused.map(({ code, problem, entry }) => ({ code, problem, question: entry?.question ?? null })),
  }),
  show(view, request, site) {
    const { open, fitting, questions, facets, page } = view;
    const { query } = request;
    const here = selectionQuery(query);
    const mayDecide = mayDo(site.user.role, 'decide');
    const first = questions[0];
    const sub = joined(
      [
        count(open, 'open question'),
        fitting < open && `${withCommas(fitting)} fit`,
        view.noted.length > 0 && `${count(view.noted.length, 'answer')} to be recorded`,
      ],
      ' · ',
    );
    return {
      title: 'Review',
      body: html`${heading('Review', sub, [
        mayDecide && fitting > 0 && html`<a class="btn" href="/review/rule${here}">All that fit…</a>`,
        first && html`<a class="btn primary" href="${addressOf(first.id, query)}" data-key="Enter">Begin</a>`,
      ])}
${view.refused.map((refused) => refusedNotice(refused, mayDecide))}
${facetRow('Reason', 'reason', facets.reason, request, reasonName)}
${facetRow('Country', 'country', facets.country, request)}
${facetRow('Best grade', 'grade', facets.bestGrade, request)}
${facets.bestGrade.length > 1 && html`<p class="dim">A grade has five letters: ${GRADE_WORDS}</p>`}
${dataTable(
  ['Your company', 'Why', 'About', 'Best candidate', 'Grade', 'Row'],
  questions.map((question) => [
    html`<a href="${addressOf(question.id, query)}">${question.input.name ?? question.input.registration_number ?? question.id}</a><br><span class="dim">${joined([question.input.country, question.input.registration_number], ' · ')}</span>`,
    html`${reasonInWords(question)}${question.held.length > 0 && html` ${chip('attention', 'second person')}`}${question.decision?.decision === 'not_sure' && html` ${chip('detail', 'not sure')}`}`,
    furtherTopic(question),
    question.candidates[0]?.name ?? (question.candidates.length === 0 ? dim('no candidate') : NOT_RETURNED),
    html`<code>${bestGrade(question)}</code>`,
    html`${placeOf(question)}${question.rows.length > 1 && html` <span class="dim">and ${question.rows.length - 1} more</span>`}`,
  ]),
  open === 0 ? 'No open questions.' : 'No open question fits.',
)}${pager(request, (page - 1) * request.pageSize, fitting)}`,
    };
  },
  csv: csvOf(({ questions }) => questions, {
    question: ({ id }) => id,
    reason_code: ({ code }) => code,
    about: topicInWords,
    name: ({ input }) => input.name,
    country: ({ countryCode }) => countryCode,
    registration_number: ({ input }) => input.registration_number,
    candidates: ({ candidates }) => candidates.length,
    best_grade: bestGrade,
  }),
});

/** "none of these", "corrected number: 00445790". */
export function decisionName(made: Pick<NonNullable<Question['decision']>, 'decision' | 'candidateId'>): string {
  const number = correctedNumber(made);
  return number === undefined ? made.decision.replaceAll('_', ' ') : `corrected number: ${number}`;
}

/** What the letters of a grade mean. */
export const GRADE_WORDS =
  'number, name, VAT number, country, place. A same, B similar, Z nothing to compare, F different.';

const addressOf = (question: string, query: URLSearchParams): string =>
  `/review/${encodeURIComponent(question)}${selectionQuery(query)}`;

const refusedNotice = ({ entry, problem, file }: RefusedAnswer, mayDecide: boolean): Html =>
  html`<div class="notice bad row between"><span>${joined([entry && html`<a href="/review/${encodeURIComponent(entry.question)}">${entry.question}</a>`, entry && `the answer of ${entry.by} was not recorded`, problem], ': ')}</span>${mayDecide && button('/review/dismiss', 'Dismiss', { file })}</div>`;

interface QuestionScreenView extends OneQuestionView {
  readonly own: readonly OwnAnswer[];
  /** The person has taken an answer back, and that is recorded in a moment. */
  readonly isUndoing: boolean;
}

export const questionScreen = screen<QuestionScreenView>({
  path: '/review/:question',
  async load({ params, query }, { options, environment, user }) {
    const asked = { ...options, ...selectionOf(query), by: user.name, question: params.question ?? '' };
    const own = await ownAnswers({ ...options, by: user.name, limit: 1 }, environment);
    const isUndone = ({ kind, question }: { kind: string; question: string }) =>
      kind === 'undo' && question === params.question;
    const isUndoing = waitingEntries(options, environment).some(isUndone);
    return { ...(await oneQuestion(asked, environment)), own, isUndoing };
  },
  json: ({ question, compared, position, fitting, previous, next }) => ({
    ...questionJson(question),
    basis: question.basis,
    open: question.open,
    compared: compared.map(({ choice, fields }) => ({ candidate: choice.key, fields })),
    ...{ position, fitting, previous, next },
  }),
  show(view, { query }, site) {
    const { question, position, fitting, queue, further } = view;
    const elsewhere = view.isUndoing ? 'Your answer is being taken back' : 'Not among the open questions';
    const place = position === null ? elsewhere : `Question ${withCommas(position)} of ${withCommas(fitting)}`;
    const mayDecide = mayDo(site.user.role, 'decide');
    return {
      title: question.input.name ?? question.id,
      isLive: view.isUndoing,
      body: html`${heading('Review', joined([place, placeOf(question), furtherTopic(question), html`<a href="/review${selectionQuery(query)}">all questions</a>`], ' · '))}
<div class="split"><ul class="queue" aria-label="Questions">${queue.map(
        (one) =>
          html`<li><a href="${addressOf(one.id, query)}"${one.id === question.id && html` class="on" aria-current="true"`}>${one.input.name ?? one.id}<small>${placeOf(one)} · ${reasonInWords(one)}</small></a></li>`,
      )}${further > 0 && html`<li class="dim">${withCommas(further)} more</li>`}</ul>
<div class="stack"><p><b>${sentence(capitalized(whyInWords(question)))}</b></p>
${saidBefore(view)}
${mayDecide && question.open ? answerForms(view, query, site) : html`${comparison(view, false)}<div class="row">${steps(view, query)}</div>`}
${mayDecide && undoForm(view, query)}
</div></div>`,
    };
  },
});

/** What people have said about the question so far. */
function saidBefore({ question, at }: Dated<QuestionScreenView>): Markup {
  const { decision, held, needsTwo, candidates, open } = question;
  const whom = (id: string | null) => {
    const index = candidates.findIndex((choice) => choice.id === id);
    return index === -1 ? '' : ` candidate ${index + 1}`;
  };
  const lines = [...(decision === undefined ? [] : [decision]), ...held].map(
    (one) =>
      html`<p class="sub">${one.decidedBy}${one.secondBy !== null && ` and ${one.secondBy}`} said ${decisionName(one)}${whom(one.candidateId)} ${time(one.decidedAt, at)}${one.note !== null && `: “${one.note}”`}</p>`,
  );
  return [
    ...lines,
    !open && html`<p>${chip('done', 'decided')} <a href="/decisions">See all decisions</a></p>`,
    open && needsTwo && html`<p class="sub">A confirmation counts when a second person agrees.</p>`,
  ];
}

const FIELD_NAMES: Readonly<Record<ComparedField['field'], string>> = {
  name: 'Name',
  number: 'Number',
  VAT: 'VAT number',
  country: 'Country',
  place: 'Place',
};

/** The row beside its candidates. Each difference has a sign, a word and a colour. */
function comparison({ question, yours, compared }: QuestionScreenView, mayAnswer: boolean): Html {
  const names = (Object.keys(FIELD_NAMES) as ComparedField['field'][]).filter(
    (name) =>
      yours[name] ?? compared.some(({ fields }) => fields.some(({ field, theirs }) => field === name && theirs)),
  );
  return html`${box(
    'Row and candidates',
    html`<table class="blocks"><thead><tr><th></th><th scope="col">Your list</th>${compared.map((_, index) => html`<th scope="col">Candidate ${index + 1}</th>`)}</tr></thead><tbody>
${names.map(
  (name) =>
    html`<tr><th scope="row">${FIELD_NAMES[name]}</th><td data-of="your list">${yours[name] ?? dim('empty')}</td>${compared.map(
      ({ fields }, index) => fields.filter(({ field }) => field === name).map((one) => cell(one, index)),
    )}</tr>`,
)}
<tr><th scope="row">${compared.length > 0 && 'Why'}</th><td data-of="your list">${question.otherCells.length > 0 && html`<small>Other cells: ${otherCellsInWords(question)}</small>`}</td>${compared.map(({ choice }, index) => html`<td data-of="candidate ${index + 1}"><small>${choice.evidence}</small><br><code title="${GRADE_WORDS}">${choice.matchGrade}</code></td>`)}</tr>
${mayAnswer && compared.length > 0 && html`<tr><th></th><td></td>${compared.map(({ choice }, index) => html`<td><button name="choice" value="${choice.key}"${index < 9 && html` data-key="${index + 1}"`}${index === 0 && html` class="primary"`}>${index < 9 && html`<kbd>${index + 1}</kbd>`}Confirm ${compared.length > 1 && index + 1}</button></td>`)}</tr>`}
</tbody></table>`,
  )}${compared.length === 0 && html`<p>No candidate was found. Correct the number, or answer none of these.</p>`}`;
}

const AGREEMENTS: Readonly<Record<ComparedField['agreement'], readonly [css: string, word: string]>> = {
  same: ['same', ''],
  similar: ['near', 'similar'],
  different: ['diff', 'different'],
  not_compared: ['', ''],
};

function cell({ agreement, yours, theirs, field }: ComparedField, index: number): Html {
  const [css, word] = AGREEMENTS[agreement];
  const value = theirs === null ? NOT_RETURNED : field === 'name' && yours !== null ? marked(theirs, yours) : theirs;
  return html`<td class="${css}" data-of="candidate ${index + 1}">${value}${word !== '' && html` <small class="dim">${word}</small>`}</td>`;
}

/** The words that the other text does not have. */
function marked(text: string, other: string): Markup {
  const plain = (word: string) => word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  const known = new Set(other.split(/\s+/).map(plain));
  return joined(
    text.split(/\s+/).map((word) => (known.has(plain(word)) ? word : html`<mark>${word}</mark>`)),
    ' ',
  );
}

/** The first button would be pressed by Enter in the note, so it is one that does nothing. */
function answerForms(view: QuestionScreenView, query: URLSearchParams, { user }: Site): Html {
  const { question, next, compared } = view;
  // A refused number is typed again in its field: elsewhere its digits would be keys that answer.
  const refused = query.get('number');
  const address = `${addressOf(question.id, new URLSearchParams())}/answer`;
  const shown = compared.map(({ choice }) => choice.key).join(' ');
  const context = { basis: question.basis, shown, next: next ?? '', select: selectionQuery(query) };
  const fields = hiddenFields(Object.entries(context));
  return html`<form class="stack" method="post" action="${address}"><button disabled hidden></button>${fields}${comparison(view, true)}
<div class="row"><button name="choice" value="none_of_these" data-key="n"><kbd>n</kbd>None of these</button><button name="choice" value="not_sure" data-key="s"><kbd>s</kbd>Not sure</button>${steps(view, query)}<label><kbd>t</kbd><input name="note" placeholder="Note, then Enter" aria-label="Note" data-key="t" maxlength="500"></label></div></form>
${question.stage === null && html`<form class="row" method="post" action="${address}">${fields}<input type="hidden" name="choice" value="none_of_these"><input name="number" required placeholder="Correct number" aria-label="Correct registration number" data-key="c" maxlength="100"${refused !== null && html` value="${refused}" autofocus`}><button><kbd>c</kbd>Correct the number</button><span class="dim">kybatch searches again. That costs 1 unit in the next run.</span></form>`}
<p class="dim">You answer as ${user.name}${!user.isVerified && question.needsTwo && '. kybatch cannot check this name, so the rule of two people depends on honesty here'}</p>`;
}

/** The ways on without an answer. */
const steps = ({ next, position, own: [last] }: QuestionScreenView, query: URLSearchParams): Html =>
  html`${next && html`<a class="btn" href="${addressOf(next, query)}" data-key="k"><kbd>k</kbd>${position === null ? 'Next question' : 'Skip'}</a>`}${last && html`<button form="undo" data-key="u"><kbd>u</kbd>Undo</button>`}`;

const undoForm = ({ own: [last], at }: Dated<QuestionScreenView>, query: URLSearchParams): Html | false =>
  last !== undefined &&
  html`<form id="undo" method="post" action="/review/undo">${hiddenFields(Object.entries({ question: last.question, given: String(last.given), select: selectionQuery(query) }))}<p class="dim">Undo takes back: ${last.summary}, ${time(last.given, at)}</p></form>`;

/** A selection that came back in a form. */
const selected = (form: URLSearchParams): URLSearchParams => new URLSearchParams(form.get('select') ?? '');

const STATES = {
  noted: [
    'ANSWER_NOTED',
    'Noted. It is recorded in a moment. If a run is using the ledger, kybatch records it when that run ends.',
    'done',
  ],
  in_force: ['ANSWER_RECORDED', 'Recorded.', 'done'],
  held: ['ANSWER_HELD', 'Recorded. It counts when a second person agrees.', 'done'],
  disagreement: ['ANSWER_CONTRADICTS', 'Recorded. Others answered differently. A third person decides.', 'attention'],
} as const;

/** Any other choice is the key of a candidate. */
const WITHOUT_CANDIDATE = ['none_of_these', 'not_sure'] as const satisfies readonly OneAnswerOptions['decision'][];

export const answerAction: Action = {
  path: '/review/:question/answer',
  needs: 'decide',
  async run(form, { params }, { options, environment, user }) {
    const choice = form.get('choice') ?? '';
    const verdict = WITHOUT_CANDIDATE.find((known) => known === choice);
    const question = params.question ?? '';
    const number = form.get('number')?.trim() ?? '';
    const { state, refusal } = await answerQuestion(
      {
        ...options,
        question,
        by: user.name,
        basis: form.get('basis') ?? '',
        shown: (form.get('shown') ?? '').split(' ').filter((key) => key !== ''),
        decision: verdict ?? 'confirm',
        candidate: verdict === undefined ? choice : '',
        correctedNumber: number,
        note: form.get('note')?.trim() ?? '',
      },
      environment,
    );
    const here = selected(form);
    if (state === 'refused') {
      const typed = { number: number === '' ? null : number };
      return { to: addressWith(`/review/${encodeURIComponent(question)}`, here, typed), message: refusal ?? undefined };
    }
    const next = form.get('next') ?? '';
    const [code, text, mood] = STATES[state];
    const to = next === '' ? `/review${selectionQuery(here)}` : addressOf(next, here);
    return { to, message: message(code, text, mood) };
  },
};

export const undoAction: Action = {
  path: '/review/undo',
  needs: 'decide',
  async run(form, _, { options, environment, user }) {
    const question = form.get('question') ?? '';
    const given = Number(form.get('given'));
    const { refusal } = await undoAnswer({ ...options, by: user.name, question, given }, environment);
    return {
      to: addressOf(question, selected(form)),
      message: refusal ?? message('ANSWER_UNDONE', 'Your answer is withdrawn.'),
    };
  },
};

export const dismissAction: Action = {
  path: '/review/dismiss',
  needs: 'decide',
  async run(form, _, { options, environment }) {
    dismissRefusedAnswer(options, form.get('file') ?? '', environment);
    return {};
  },
};
