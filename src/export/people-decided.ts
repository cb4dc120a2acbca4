import { correctedNumber } from '../domain/corrected-number.js';
import { type IdSpace, TELLING_SPACES } from '../domain/id-spaces.js';
import { oddAnswer, oddInWords } from '../domain/odd-answer.js';
import type { RowQuestion, SnapshotRow } from '../ledger/snapshot.js';
import { outsideText } from '../util/outside-text.js';

/** What people have decided about a row, and what is open, in words. */

type Facts = Pick<SnapshotRow, 'ids' | 'questions'>;

/** What a module's question is about. */
const THINGS: Readonly<Record<IdSpace, string>> = {
  v1: 'company of v1',
  v2: 'company of v2',
  companies: 'company of the companies module',
  employees: 'company of the employees module',
  insights: 'company of digital insights',
  credit: 'credit report',
  ownership: 'ownership',
  report: 'credit report',
};

/** Confirmed by people, and what they confirmed is what the row stands by. */
const confirmedOf = ({ ids, questions }: Facts): readonly RowQuestion[] =>
  questions.filter(
    ({ answered, decision, candidateId, space }) =>
      answered === 1 && decision === 'confirm' && candidateId !== null && candidateId === ids[space],
  );

/** The question by which the row's company was confirmed: which one it is, else whether its record is its own. */
function deciding(confirmed: readonly RowQuestion[]): RowQuestion | undefined {
  const ofCompany = TELLING_SPACES.flatMap((space) => confirmed.filter((question) => question.space === space));
  return ofCompany.find(({ stage }) => stage === null) ?? ofCompany[0];
}

/** "Confirmed by Anna although the record has number X; the credit report was chosen by Bernd and names Y AG". */
export function decidedInWords(row: Facts, confirmedBy: string | undefined): string {
  const confirmed = confirmedOf(row);
  const company = confirmedBy === undefined ? deciding(confirmed) : undefined;
  const head =
    confirmedBy ?? `Confirmed by ${company === undefined ? 'a person' : `${people(company)}${although(company)}`}`;
  const others = confirmed.filter((question) => question !== company);
  return [head, ...correctionsOf(row), ...others.map(furtherInWords)].join('; ');
}

/** A number that was searched for instead of the row's own. */
const correctionsOf = ({ questions }: Facts): readonly string[] =>
  questions.flatMap((question) => {
    const number = correctedNumber({ ...question, decision: question.decision ?? '' });
    if (question.answered !== 1 || number === undefined) return [];
    return [`${people(question)} corrected the number to ${outsideText(number, 100)}`];
  });

function furtherInWords(question: RowQuestion): string {
  const { space, stage, name, grade } = question;
  if (stage !== null) return `the ${spaced(stage)} was accepted by ${people(question)}${although(question, 'it')}`;
  // Whoever reads it must see whose it is, unless that is what the line says.
  const isSame = grade !== null && /^[ABZ]A/.test(grade);
  const names = isSame || name === null ? '' : ` and names ${outsideText(name, 200)}`;
  return `the ${THINGS[space]} was chosen by ${people(question)}${names}`;
}

const although = ({ stage, entityKey }: RowQuestion, what = `the ${spaced(stage ?? '')}`): string =>
  stage === null ? '' : ` although ${what} ${outsideText(oddInWords(oddAnswer(entityKey)), 200)}`;

const spaced = (stage: string): string => stage.replaceAll('-', ' ');

/** "Anna", or "Anna and Bernd" where two had to agree. */
const people = ({ decidedBy, secondBy }: RowQuestion): string =>
  [decidedBy ?? 'a person', secondBy].flatMap((name) => (name === null ? [] : [outsideText(name, 100)])).join(' and ');

/** Who said that none of the companies found is meant, or that what was bought is another's. */
export function refusedBy({ questions }: Facts): string {
  const refused = questions.find(({ answered, decision }) => answered === 1 && decision === 'none_of_these');
  return refused === undefined ? 'A person' : people(refused);
}

/** What is open where a company was found, or what was bought for it is in question; undefined where who is meant is the question. */
export function openInWords({ ids, questions }: Facts): string | undefined {
  const open = questions.find(({ answered }) => answered === 0);
  if (open === undefined) return undefined;
  const { space, stage, entityKey } = open;
  const isKnown = isKnownBefore(space, ids);
  if (stage !== null) {
    const odd = outsideText(oddInWords(oddAnswer(entityKey)), 200);
    if (isKnown) return `Company confirmed; the ${spaced(stage)} ${odd}`;
    return `Found, but the ${spaced(stage)} that was bought for it ${odd}`;
  }
  if (!isKnown) return undefined;
  return `Company confirmed; which ${THINGS[space]} is meant is open`;
}

/** A space that says more about companies has it. */
function isKnownBefore(space: IdSpace, ids: Facts['ids']): boolean {
  const place = TELLING_SPACES.indexOf(space);
  return TELLING_SPACES.slice(0, place === -1 ? undefined : place).some((telling) => ids[telling] !== undefined);
}
