// The stage `ownership`, and the comparison of its answer with the company.

import { readAnswer, readStatements } from '../api/answer.js';
import { isPlainObject } from '../api/v2/fields.js';
import { v2Operations } from '../api/v2/operations.js';
import { type CandidateFacts, gradeCandidate } from '../domain/candidate-grade.js';
import { contradictionsOf, statedCompanies } from '../domain/identity-mismatch.js';
import { nameSimilarity } from '../domain/names/similarity.js';
import { isUniqueInCountry, readNumberWithCountry } from '../domain/numbers/compare.js';
import { anyText, type ExactJson, isEmptyBody } from '../util/exact-json.js';
import { sanitizeText } from '../util/sanitize-text.js';
import { count } from '../util/words.js';
import { confirmedElsewhere } from './identity/confirm.js';
import { confirmedFacts } from './modules.js';
import {
  askAboutMismatch,
  type Company,
  type Compared,
  type Identified,
  nothingReturned,
  requireIdentified,
  type StageContext,
  type StageOutcome,
  stage,
  withoutAnswerAbout,
} from './stage.js';

const VERDICTS = { accepted: 'confirmed', refused: 'rejected' } as const;

const NOTHING_RETURNED = nothingReturned('NO_OWNERSHIP', 'the provider returned neither shareholders nor a group tree');
const NO_NUMBER = nothingReturned(
  'NUMBER_NEEDED',
  'the company was confirmed without a registration number, so an answer by name alone cannot be checked',
);

const NAMES_SHOWN = 3;

const shown = (name: string): string => sanitizeText(name, 120);

const text = (value: ExactJson | undefined): string | null =>
  value === undefined || value === null || anyText(value).trim() === '' ? null : anyText(value);

/**
 * Shareholders and group tree by the confirmed number. The answer is compared with the company, because the request has
 * no country (V2-22).
 */
export const ownershipStage = stage({
  name: 'ownership',
  summary: 'Direct shareholders and group tree (v2). kybatch compares the answer with the confirmed company',
  space: 'v2',
  additional: true,
  comparesCandidate: true,
  finds: ['ownership'],
  ages: [v2Operations.ownership],
  calls: [{ operation: v2Operations.ownership, atMost: 1 }],
  run: buyOwnership,
});

async function buyOwnership(company: Company, context: StageContext): Promise<StageOutcome> {
  const confirmed = confirmedCompany(company);
  if (confirmed === undefined) return NO_NUMBER;
  const before = acceptedBefore(company, confirmed);
  const outcome = await askFor(confirmed, company, context);
  // The accepted answer stays visible until another one is accepted.
  return before === undefined ? outcome : { ...outcome, ids: { ownership: before, ...outcome.ids } };
}

function acceptedBefore({ ids, confirmedBefore }: Company, { number }: ExpectedCompany): Identified | undefined {
  const before = ids.ownership ?? confirmedBefore.ownership;
  return before?.id === number ? before : undefined;
}

async function askFor(confirmed: ExpectedCompany, company: Company, context: StageContext): Promise<StageOutcome> {
  const params = { registration_number: confirmed.number };
  const outcome = await context.call(v2Operations.ownership, params);
  if (outcome.kind !== 'answer') return await withoutAnswerAbout(v2Operations.ownership, params, outcome, context);
  if (isEmptyBody(outcome.body, 'registration_number')) return NOTHING_RETURNED;
  const said = identityInOwnership(readAnswer(v2Operations.ownership, outcome.body));
  const further = furtherDoubts(outcome.body, confirmed, company, context);
  const doubts = [...ownershipMismatches(said, confirmed, context.nameAgreement), ...further];
  const known = { id: confirmed.number, candidate: null, matchedOn: 'registration_number', grade: null };
  const compared = {
    operation: v2Operations.ownership,
    params,
    // Not by number, because companies of several countries may share it.
    company: { space: 'v2', id: requireIdentified(company, 'v2').id },
  } as const;
  if (doubts.length > 0)
    return await askAboutOwnership(company, confirmed, { said, doubts, further, compared }, context);
  context.keepAgreement(compared);
  return { kind: 'done', ids: { ownership: known } };
}

function confirmedCompany(company: Company): ExpectedCompany | undefined {
  const { candidate } = requireIdentified(company, 'v2');
  const { countryCode, name } = company.enquiry.subject;
  const number = candidate?.registration_number ?? confirmedElsewhere(company.ids)?.registration_number ?? '';
  if (number.trim() === '') return undefined;
  return {
    number,
    name: candidate?.name ?? name ?? null,
    countryCode: candidate?.country_code?.toUpperCase() ?? countryCode,
  };
}

/** A name, country or other spelling of the number that the answer states about its company must agree, too. */
function furtherDoubts(
  body: Buffer,
  { number, countryCode }: ExpectedCompany,
  company: Company,
  context: Pick<StageContext, 'nameAgreement'>,
): readonly string[] {
  const { registration_number: _, id: __, ...members } = readStatements(v2Operations.ownership, body);
  const facts = { ...confirmedFacts(company, 'v2', context), registration_number: number, country_code: countryCode };
  return statedCompanies(members).flatMap((stated) => contradictionsOf({ ...stated, id: null }, facts));
}

interface OddOwnership {
  readonly further: readonly string[];
  readonly said: OwnershipIdentity;
  readonly doubts: readonly string[];
  readonly compared: Compared;
}

/** A person sees the answer's own facts beside the row. The decision holds only for this difference. */
async function askAboutOwnership(
  company: Company,
  confirmed: ExpectedCompany,
  { said, doubts, further, compared }: OddOwnership,
  context: StageContext,
): Promise<StageOutcome> {
  const { id: v2Id, grade } = requireIdentified(company, 'v2');
  const { number, name, countryCode } = confirmed;
  const key = `ownership|${v2Id}|${JSON.stringify([countryCode, number, name, said.registrationNumber, ...said.selected.flatMap((node) => [node.registrationNumber, node.name]), ...further])}`;
  const question = { space: 'ownership', stage: 'ownership', key, candidateId: number, compared } as const;
  const decided = await askAboutMismatch(question, `ownership: ${doubts.join('; ')}`, grade, context);
  const verdict = typeof decided === 'string' ? VERDICTS[decided] : 'needs_review';
  const facts = factsOf(confirmed, said);
  const graded = gradeCandidate(company.enquiry.subject, facts);
  const evidence = [...doubts, inWords(said)];
  context.keepCandidates('ownership', [{ candidate: facts, grade: graded.grade, evidence, decision: verdict }]);
  const before = acceptedBefore(company, confirmed);
  const isByPerson = before?.matchedOn === 'review';
  if (decided === 'accepted') {
    // An answer accepted without a person stays so, even if a person withdraws a decision.
    if (before !== undefined && !isByPerson) return { kind: 'done' };
    return { kind: 'done', ids: { ownership: { id: number, candidate: null, matchedOn: 'review', grade: null } } };
  }
  if (decided !== 'refused') {
    const isTakenBack = isByPerson && (await context.questions.wasWithdrawn(question));
    return isTakenBack ? { ...decided, ids: { ownership: null } } : decided;
  }
  const message = 'a person refused the ownership answer because it may be of another company';
  return { ...nothingReturned('REVIEWED', message), ids: { ownership: null } };
}

function factsOf({ number, countryCode }: ExpectedCompany, { registrationNumber, selected }: OwnershipIdentity) {
  const [node] = selected;
  const said = registrationNumber ?? node?.registrationNumber ?? null;
  const { country } = readNumberWithCountry(node?.registrationNumber ?? '', number, countryCode);
  return {
    id: number,
    name: node?.name ?? null,
    registration_number: said,
    vat_number: null,
    country_code: country,
    state: null,
    jurisdiction: null,
  } satisfies CandidateFacts;
}

export interface OwnershipIdentity {
  readonly registrationNumber: string | null;
  /** The nodes of its tree that are marked as the company asked for. */
  readonly selected: readonly SelectedNode[];
  /** Further facts for a person to decide by. */
  readonly shareholders: readonly unknown[];
  readonly roots: readonly unknown[];
  readonly nodes: number;
}

export interface SelectedNode {
  readonly name: string | null;
  readonly registrationNumber: string | null;
}

export interface ExpectedCompany {
  readonly number: string;
  readonly name: string | null;
  /** Empty if unknown. */
  readonly countryCode: string;
}

interface OwnershipBody {
  readonly registration_number?: ExactJson | undefined;
  readonly shareholders?: readonly unknown[] | null | undefined;
  readonly group_structure?: readonly unknown[] | null | undefined;
}

/** Trees may be very deep, so they are walked with an own stack. */
export function identityInOwnership({
  registration_number,
  shareholders,
  group_structure,
}: OwnershipBody): OwnershipIdentity {
  let nodes = 0;
  const selected: SelectedNode[] = [];
  const pending: unknown[] = [...(group_structure ?? [])].reverse();
  while (pending.length > 0) {
    const node = pending.pop();
    if (typeof node !== 'object' || node === null) continue;
    nodes++;
    const { name, registration_number: number, selected: isSelected, children } = node as { [key: string]: ExactJson };
    if (isSelected === true) selected.push({ name: text(name), registrationNumber: text(number) });
    if (Array.isArray(children)) for (let at = children.length - 1; at >= 0; at--) pending.push(children[at]);
  }
  return {
    registrationNumber: text(registration_number),
    selected,
    shareholders: shareholders ?? [],
    roots: group_structure ?? [],
    nodes,
  };
}

/** The answer's own facts in words, which are all the evidence if no node is marked. */
function inWords({ registrationNumber, shareholders, roots, nodes }: OwnershipIdentity): string {
  const number = registrationNumber === null ? 'no number' : `the number ${shown(registrationNumber)}`;
  const holders = `${counted(shareholders.length, 'shareholder')}${firstNames(':', shareholders)}`;
  const tree = `${counted(nodes, 'company', 'companies')} in its group tree${firstNames(' under', roots)}`;
  return `the answer has ${number}, ${holders}, ${tree}`;
}

const counted = (number: number, thing: string, things?: string): string =>
  number === 0 ? `no ${things ?? `${thing}s`}` : count(number, thing, things);

function firstNames(before: string, list: readonly unknown[]): string {
  const names = list
    .slice(0, NAMES_SHOWN)
    .flatMap((item) => text(isPlainObject(item) ? (item.name as ExactJson) : null) ?? []);
  const more = list.length > names.length ? ', …' : '';
  return names.length === 0 ? '' : `${before} ${names.map(shown).join(', ')}${more}`;
}

/**
 * Why an answer may not be the company's, in words. Empty if it is. The request has no country, and the same number may
 * belong to another company abroad (V2-22). So the answer must have the number and mark one company in its tree, with
 * the confirmed number and name. An absent value agrees with nothing.
 */
export function ownershipMismatches(
  { registrationNumber, selected }: Pick<OwnershipIdentity, 'registrationNumber' | 'selected'>,
  company: ExpectedCompany,
  nameAgreement: number,
): readonly string[] {
  const own = doubtsAboutNumber('the answer', registrationNumber, company);
  const [node, second] = selected;
  if (node === undefined) return [...own, 'its group tree does not mark the company'];
  if (second !== undefined) return [...own, `its group tree marks ${selected.length} companies instead of one`];
  const marked = 'the company marked in its group tree';
  return [
    ...own,
    ...doubtsAboutNumber(marked, node.registrationNumber, company),
    ...doubtsAboutName(marked, node, company, nameAgreement),
  ];
}

function doubtsAboutNumber(whose: string, number: string | null, { number: confirmed, countryCode }: ExpectedCompany) {
  if (number === null) return [`${whose} has no registration number, but ${confirmed} was confirmed`];
  const { isSame, country } = readNumberWithCountry(number, confirmed, countryCode);
  if (isSame) return [];
  if (country !== null)
    return [`${whose} has the country ${country} (${number}), but ${confirmed} in ${countryCode} was confirmed`];
  return [`${whose} has registration number ${number}, but ${confirmed} was confirmed`];
}

/**
 * A number may exist in several registers and countries, so without a name it only counts if it names its country. If
 * it does, and the country has one register, a different name is a new name.
 */
function doubtsAboutName(
  whose: string,
  { name, registrationNumber }: SelectedNode,
  company: ExpectedCompany,
  nameAgreement: number,
) {
  if (name === null) return [`${whose} has no name`];
  const { number, countryCode } = company;
  const { country, isSame } = readNumberWithCountry(registrationNumber ?? '', number, countryCode);
  if (company.name !== null) {
    const agrees = nameSimilarity(company.name, name) >= nameAgreement;
    const isRenamed = isSame && country === countryCode && isUniqueInCountry(number, countryCode);
    return agrees || isRenamed ? [] : [`${whose} is named ${name}, but ${company.name} was confirmed`];
  }
  return country === null ? [`there is no name to compare with ${name}, and the answer names no country`] : [];
}
