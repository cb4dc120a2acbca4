import { readAnswer, readMember } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import type { Operation } from '../api/operation.js';
import { identifierText } from '../api/schema.js';
import { recordKey } from '../domain/entity-key.js';
import { checkRecordIdentity } from '../domain/identity-mismatch.js';
import { readNumberWithCountry } from '../domain/numbers/compare.js';
import type { IdSpace } from '../domain/provider.js';
import { type ExactJson, ExactNumber, isEmptyBody, isEmptyValue } from '../util/exact-json.js';
import { someMember } from '../util/json-scan.js';
import { askPages, listNotReturned } from './pages.js';
import {
  askAboutMismatch,
  type Company,
  type Compared,
  deferNotes,
  type Identified,
  nothingReturned,
  type Params,
  parkUnanswered,
  requireIdentified,
  type StageCall,
  type StageContext,
  type StageOutcome,
  toStageError,
  withoutAnswerAbout,
} from './stage.js';

/** A part of the company data that is asked for separately. */
export interface Module {
  readonly operation: Operation;
  /** If one of these members is present and not null, the answer counts as returned, even if it is empty (V1-22). */
  readonly tells?: readonly string[];
  /** Where the answer identifies its company: in this member or in the whole answer. Absent: nowhere. */
  readonly identity?: 'lite' | 'whole';
  /** The member with a group tree, which marks its company. */
  readonly tree?: string;
}

/** How a stage asks for modules: the ID space, and the maximum of pages for a list. */
export interface ModuleTerms {
  readonly stage: string;
  readonly space: IdSpace;
  readonly pagesAtMost: number;
  /** The parameters of a list other than its page. */
  readonly listParams?: Params;
}

export const callsOf = (modules: readonly Module[], pagesAtMost: number): readonly StageCall[] =>
  modules.map(({ operation }) => ({ operation, atMost: operation.pages === undefined ? 1 : pagesAtMost }));

/**
 * Asks for one module after the other. A held or failed module does not stop the others, and answers stay stored. But
 * nothing is bought for a company whose own profile is missing or names another company. A module that the provider
 * does not have is noted, if another one came.
 */
export async function buyModules(
  modules: readonly Module[],
  asking: ModuleTerms,
  company: Company,
  context: StageContext,
): Promise<StageOutcome> {
  const noting = deferNotes(
    context,
    modules.map(({ operation }) => operation),
  );
  return noting.ended(await buyEach(modules, asking, company, noting.context));
}

async function buyEach(
  modules: readonly Module[],
  asking: ModuleTerms,
  company: Company,
  context: StageContext,
): Promise<StageOutcome> {
  const confirmed = requireIdentified(company, asking.space);
  const missing: Missing[] = [];
  let ids: StageOutcome['ids'];
  let held: StageOutcome | undefined;
  for (const module of modules) {
    const got = await ask(module, asking, confirmed, context);
    switch (got.kind) {
      case 'came': {
        if (got.identity === undefined) break;
        const asked = { operation: module.operation, params: { id: confirmed.id } };
        const compared = await compareIdentity(asking, company, got.identity, asked, context);
        if (compared.kind !== 'same') return compared;
        ids = compared.ids;
        break;
      }
      case 'not_available':
        missing.push({ module, ...got });
        break;
      default:
        if (got.kind === 'stopped' || module.identity !== undefined) return got;
        if (held === undefined || got.kind === 'failed') held = got;
    }
  }
  const learned = ids === undefined ? {} : { ids };
  if (held !== undefined) return { ...held, ...learned };
  return missing.length === modules.length
    ? nothingCame(missing, context)
    : noted(missing, context, { kind: 'done', ...learned });
}

type NotAvailable = Extract<StageOutcome, { kind: 'not_available' }>;
type Missing = NotAvailable & { readonly module: Module };

function nothingCame([first, ...others]: readonly Missing[], context: StageContext): StageOutcome {
  if (first === undefined) throw new Error('a stage asks for something');
  const { module, ...said } = first;
  const gone = [first, ...others].some((one) => one.gone === true) ? ({ gone: true } as const) : {};
  return noted(others, context, { ...said, ...gone });
}

function noted(missing: readonly Missing[], { keepError }: StageContext, outcome: StageOutcome): StageOutcome {
  for (const { module, error } of missing)
    if (error !== undefined) keepError({ ...error, message: `${module.operation.name}: ${error.message}` });
  return outcome;
}

type Got = { readonly kind: 'came'; readonly identity?: OwnIdentity } | StageOutcome;

async function ask(module: Module, asking: ModuleTerms, confirmed: Identified, context: StageContext): Promise<Got> {
  const { operation } = module;
  const { id } = confirmed;
  if (operation.pages !== undefined) {
    const pages = await askPages(operation, { id, ...asking.listParams }, asking.pagesAtMost, context);
    if (pages.kind !== 'pages') return pages;
    return pages.came ? { kind: 'came' } : nothingReturned('NOTHING_RETURNED', listNotReturned(operation));
  }
  const outcome = await context.call(operation, { id });
  if (outcome.kind !== 'answer') return await withoutAnswerAbout(operation, { id }, outcome, context);
  try {
    return read(module, outcome.body, confirmed);
  } catch (error) {
    if (error instanceof ApiError) return parkUnanswered(toStageError(error, 1));
    throw error;
  }
}

function read(module: Module, body: Buffer, confirmed: Identified): Got {
  const { operation, identity, tells, tree } = module;
  if (identity === 'lite') {
    const lite = readMember(operation, body, 'lite');
    const said = identityIn(lite);
    if (said === undefined && isEmptyBody(body, 'lite')) return nothingIn(module);
    const ids = [readMember(operation, body, 'id'), memberOf(lite, 'id')].map(identifierText);
    const id = ids.find((stated) => stated !== null && stated !== confirmed.id) ?? null;
    return { kind: 'came', identity: { ...(said ?? UNKNOWN), id } };
  }
  if (tells !== undefined) return saysOneOf(body, tells) ? { kind: 'came' } : nothingIn(module);
  if (identity === undefined && tree === undefined) return { kind: 'came' };
  const value = readAnswer(operation, body) as ExactJson;
  if (tree !== undefined) {
    const nodes = memberOf(value, tree);
    if (nodes == null) return nothingIn(module);
    const another = Array.isArray(nodes) ? mismatchedGroupCompany(nodes, confirmed) : undefined;
    return another === undefined ? { kind: 'came' } : ofAnother(another, confirmed);
  }
  const said = identityIn(value);
  return said === undefined ? nothingIn(module) : { kind: 'came', identity: said };
}

/** One of these members is present and not null. */
const saysOneOf = (body: Buffer, names: readonly string[]): boolean =>
  someMember(body, (name, first) => names.includes(name) && first !== 'n');

/** Flat, or grouped with provenance (V1-25). Undefined if it has nothing but the requested ID. */
function identityIn(profile: ExactJson | undefined): OwnIdentity | undefined {
  if (!isObject(profile)) return undefined;
  const { id, ...members } = profile;
  if (isEmptyValue(members)) return undefined;
  const text = (name: string, group: string): string | null =>
    identifierText(members[name] ?? memberOf(members[group], name));
  return {
    id: identifierText(id),
    name: text('name', 'basic'),
    registration_number: text('registration_number', 'basic'),
    country_code: text('country_code', 'address'),
  };
}

const UNKNOWN: OwnIdentity = { id: null, name: null, registration_number: null, country_code: null };

const isObject = (value: ExactJson | undefined): value is { [member: string]: ExactJson } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

const memberOf = (value: ExactJson | undefined, name: string): ExactJson | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const ofAnother = (another: string, { id, candidate }: Identified): NotAvailable =>
  nothingReturned(
    'GROUP_OF_ANOTHER',
    `the group tree of ${id} marks ${another}, but the confirmed company has ${candidate?.registration_number}`,
  );

/** An empty answer is paid for. It says neither yes nor no about the company (V1-22). */
function nothingIn({ identity, operation }: Module): NotAvailable {
  const message = `the provider returned ${identity === 'lite' ? 'an empty record' : `an empty answer to ${operation.name}`}`;
  const code = identity === 'lite' ? 'EMPTY_RECORD' : 'NOTHING_RETURNED';
  return nothingReturned(code, message);
}

/** The company that an answer names. */
interface OwnIdentity {
  readonly id: string | null;
  readonly name: string | null;
  readonly registration_number: string | null;
  readonly country_code: string | null;
}

type Comparison = { readonly kind: 'same'; readonly ids?: NonNullable<StageOutcome['ids']> } | StageOutcome;

/**
 * An answer must have the number and country of the match, and no other ID (X-7). Otherwise a person accepts it with its difference or refuses
 * it.
 */
async function compareIdentity(
  { stage, space }: { readonly stage: string; readonly space: IdSpace },
  company: Company,
  said: OwnIdentity,
  { operation, params }: Pick<Compared, 'operation' | 'params'>,
  context: Pick<StageContext, 'questions' | 'keepAgreement'>,
): Promise<Comparison> {
  const { candidate, ...found } = requireIdentified(company, space);
  if (candidate === null) throw new Error('a record is bought only for a candidate that was seen');
  const check = checkRecordIdentity(candidate, said);
  const compared = { operation, params, company: { space, id: found.id } };
  const otherId = said.id === null || said.id === found.id ? undefined : said.id;
  if (check.ok && otherId === undefined) {
    context.keepAgreement(compared);
    return { kind: 'same' };
  }
  const isRenamed = said.name !== null && said.name !== candidate.name;
  const problems = [
    otherId === undefined ? [] : [`the record is of ${otherId}, but kybatch asked for ${found.id}`],
    check.ok ? [] : [check.message],
    isRenamed ? [`the record is named ${said.name}`] : [],
  ].flat();
  const message = problems.join('. ');
  const key = `${recordKey(candidate, said)}${otherId === undefined ? '' : `|${otherId}`}`;
  const question = { space, stage, key, candidateId: candidate.id, compared } as const;
  const decided = await askAboutMismatch(question, message, found.grade, context);
  if (decided === 'accepted') return { kind: 'same', ids: { [space]: { ...found, candidate, matchedOn: 'review' } } };
  return decided === 'refused' ? refused(space, company) : decided;
}

const REFUSED = 'a person refused the record because its number or country differs';

/** The v1 match stays: only v2 has another company. */
function refused(space: IdSpace, { ids }: Company): StageOutcome {
  if (space === 'v1' || ids.v1 === undefined)
    return { kind: 'no_match', code: 'REVIEWED', message: REFUSED, ids: { v1: null, v2: null } };
  return { ...nothingReturned('REVIEWED', REFUSED), ids: { [space]: null } };
}

/**
 * The company that a group tree marks, if it is another than the match. Undefined: it is the same or unknown. It only
 * differs if neither ID nor number is the confirmed one. Trees may be very deep, so there is no recursion.
 */
function mismatchedGroupCompany(tree: readonly unknown[], { id, candidate }: Identified): string | undefined {
  const confirmed = candidate?.registration_number ?? '';
  if (confirmed === '') return undefined;
  const countryCode = candidate?.country_code?.toUpperCase() ?? '';
  let another: string | undefined;
  const pending: unknown[] = [...tree].reverse();
  while (pending.length > 0) {
    const node = pending.pop();
    if (typeof node !== 'object' || node === null) continue;
    const { id: own, name, registration_number, selected, children } = node as { readonly [member: string]: ExactJson };
    if (Array.isArray(children)) for (let at = children.length - 1; at >= 0; at--) pending.push(children[at]);
    const number = text(registration_number);
    if (selected !== true || number === undefined) continue;
    if (text(own) === id || readNumberWithCountry(number, confirmed, countryCode).isSame) return undefined;
    another ??= `${number}${text(name) === undefined ? '' : ` (${text(name)})`}`;
  }
  return another;
}

const text = (value: ExactJson | undefined): string | undefined =>
  typeof value === 'string' || value instanceof ExactNumber ? String(value).trim() || undefined : undefined;
