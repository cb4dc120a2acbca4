import type { Registry } from '../../../src/sandbox/registry/index.js';
import type { SampleRow } from '../../../src/sandbox/sample.js';
import type { Row } from '../table.js';
import type { Naive } from './naive.js';
import { RIGHT_REASONS } from './reasons.js';
import type { Ending } from './world.js';

export interface Judged {
  readonly row: SampleRow;
  readonly country: string;
  readonly ending: Ending;
  readonly naive: Naive;
}

/** A confirmation of another company than the row means. This is the worst error. */
export const isFalse = ({ row, ending }: Judged): boolean =>
  ending.kind === 'confirmed' && ending.v1 !== row.answer.v1_company_id;

/** A row that could be confirmed and was, rightly. */
const isRight = ({ row, ending }: Judged): boolean =>
  ending.kind === 'confirmed' && ending.v1 === row.answer.v1_company_id;

/** A row that needs review, with the right reason. */
export const isRightlyAsked = ({ row, ending }: Judged): boolean =>
  ending.kind === 'needs_review' && (RIGHT_REASONS[row.answer.damage] ?? []).includes(ending.code);

/** A row about an unknown company, or an invalid row, with a wrong outcome. */
export const isTakenForSomebody = ({ row: { answer }, ending }: Judged): boolean =>
  (answer.expected === 'no_match' || answer.expected === 'invalid') && ending.kind !== answer.expected;

const mayConfirm = ({ row }: Judged) => row.answer.expected === 'confirmed';
const mustAsk = ({ row }: Judged) => row.answer.expected === 'needs_review';

/** One line of a table: the result of kybatch, then those of the two simple programs. */
export function scoreLine(title: string, judged: readonly Judged[]): Row {
  const confirmed = judged.filter(({ ending }) => ending.kind === 'confirmed').length;
  const repairable = judged.filter(mayConfirm);
  const irreparable = judged.filter(mustAsk);
  const naive = (which: keyof Naive) => {
    const taken = judged.filter((one) => one.naive[which] !== null);
    // A lucky guess at a row that only a person can judge counts as right.
    const right = taken.filter((one) => one.naive[which] === one.row.answer.v1_company_id);
    return {
      precision: percent(right.length, taken.length),
      recall: percent(right.filter(mayConfirm).length, repairable.length),
    };
  };
  const [first, exact] = [naive('first'), naive('exact')];
  return {
    ' ': title,
    rows: String(judged.length),
    confirmed: String(confirmed),
    false: String(judged.filter(isFalse).length),
    precision: percent(judged.filter(isRight).length, confirmed),
    recall: percent(repairable.filter(isRight).length, repairable.length),
    review: percent(judged.filter(({ ending }) => ending.kind === 'needs_review').length, judged.length),
    'right reason': percent(irreparable.filter(isRightlyAsked).length, irreparable.length),
    'first: prec.': first.precision,
    'recall ': first.recall,
    'exact: prec.': exact.precision,
    'recall  ': exact.recall,
  };
}

export function groupLines(judged: readonly Judged[], key: (one: Judged) => string): Row[] {
  const groups = new Map<string, Judged[]>();
  for (const one of judged) {
    const group = groups.get(key(one));
    if (group === undefined) groups.set(key(one), [one]);
    else group.push(one);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([title, group]) => scoreLine(title, group));
}

/** The IDs in the other ID spaces, for rows with a confirmed v1 company (V2-4). */
export function sideLine(title: string, judged: readonly Judged[], side: 'v2' | 'credit', registry: Registry): Row {
  const known = judged.filter(({ ending }) => ending.kind === 'confirmed');
  const tally = { right: 0, false: 0, asked: 0, none: 0 };
  for (const { ending } of known) {
    const company = registry.byV1Id(ending.v1 ?? '');
    const { id, asked } = ending[side];
    const expected = side === 'v2' ? company?.v2Id : company?.sourceId;
    if (id !== null) tally[id === expected ? 'right' : 'false'] += 1;
    else tally[asked === null ? 'none' : 'asked'] += 1;
  }
  return {
    identity: title,
    rows: String(known.length),
    confirmed: String(tally.right + tally.false),
    false: String(tally.false),
    'not known there': String(tally.none),
    review: percent(tally.asked, known.length),
  };
}

export const percent = (part: number, whole: number): string =>
  whole === 0 ? '-' : `${((100 * part) / whole).toFixed(part === whole ? 0 : 2)}%`;
