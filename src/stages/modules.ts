import { readAnswer, readMember, readStatements } from '../api/answer.js';
import type { Operation } from '../api/operation.js';
import { recordKey } from '../domain/entity-key.js';
import {
  type ConfirmedFacts,
  contradictionsOf,
  identifierText,
  recordProblem,
  type StatedCompany,
  statedCompanies,
} from '../domain/identity-mismatch.js';
import { readNumberWithCountry } from '../domain/numbers/compare.js';
import type { IdSpace } from '../domain/provider.js';
import { type ExactJson, isEmptyBody, isEmptyValue, isObject } from '../util/exact-json.js';
import { someMember } from '../util/json-scan.js';
import { confirmedElsewhere } from './identity/confirm.js';
import { askPages, listNotReturned } from './pages.js';
import {
  askAboutMismatch,
  type Company,
  type Identified,
  nothingReturned,
  orUnanswered,
  type Params,
  requireIdentified,
  type StageCall,
  type StageContext,
  type StageOutcome,
  withoutAnswerAbout,
} from './stage.js';

export interface Module {
  readonly operation: Operation;
  /** If one of these members is present and not null, the answer counts as returned, even if it is empty (V1-22). */
  readonly tells?: readonly string[];
  /** Where the answer identifies its company: in this member or in the whole answer. Absent: nowhere. */
  readonly identity?: 'lite' | 'whole';
  /** The member with a group tree, which marks its company. */
  readonly tree?: string;
  /** Members with lists whose items may name the company that they belong to. The answer is such a list with `data`. */
  readonly lists?: readonly string[];
  /** The member with a list whose items all have the ID of the company that they belong to. One alone proves nothing. */
  readonly sharedId?: string;
  /** Members that are parts with a company of their own, such as the accounts in a full record. */
  readonly parts?: readonly string[];
  /** The code and the words of an answer without any value. */
  readonly nothing?: { readonly code: string; readonly message: string };
}

export interface ModuleTerms {
  readonly stage: string;
  readonly space: IdSpace;
  readonly pagesAtMost: number;
  readonly listParams?: Params;
}

export const callsOf = (modules: readonly Module[], pagesAtMost: number): readonly StageCall[] =>
  modules.map(({ operation }) => ({ operation, atMost: operation.pages === undefined ? 1 : pagesAtMost }));

/**
 * Asks for one module after the other. A held or failed module does not stop the others, and answers stay stored. But
 * nothing is bought for a company whose own profile is missing, or while an answer that names another company is in
 * review. A module that the provider does not have, or that a person refused, is noted, if another one came.
 */
export async function buyModules(
  modules: readonly Module[],
  asking: ModuleTerms,
  company: Company,
  context: StageContext,
): Promise<StageOutcome> {
  const missing: Missing[] = [];
  let ids: StageOutcome['ids'];
  let held: StageOutcome | undefined;
  for (const module of modules) {
    const got = await orUnanswered(() => ask(module, asking, company, context));
    switch (got.kind) {
      case 'came': {
        const compared = await compareModule(module, asking, company, got, context);
        if (compared.kind === 'same') ids = compared.ids ?? ids;
        else if (compared.kind === 'not_available' && module.identity === undefined)
          missing.push({ module, ...compared });
        else return compared;
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

/** The answers of a module: several for a list with pages. */
interface Came {
  readonly kind: 'came';
  readonly identity?: StatedCompany;
  readonly odd?: OddPart | undefined;
  readonly requests: readonly Params[];
}

type Got = Came | StageOutcome;

async function ask(module: Module, asking: ModuleTerms, company: Company, context: StageContext): Promise<Got> {
  const { operation } = module;
  const { id } = requireIdentified(company, asking.space);
  const facts = confirmedFacts(company, asking.space, context);
  if (operation.pages !== undefined) {
    const { call, came } = comparing(module, facts, context);
    const pages = await askPages(operation, { id, ...asking.listParams }, asking.pagesAtMost, { ...context, call });
    if (pages.kind !== 'pages') return pages;
    return pages.came ? came : nothingReturned('NOTHING_RETURNED', listNotReturned(operation));
  }
  const outcome = await context.call(operation, { id });
  if (outcome.kind !== 'answer') return await withoutAnswerAbout(operation, { id }, outcome, context);
  return read(module, outcome.body, facts);
}

/** Compares each page of a list as it comes. `came` is complete when the list was read. */
function comparing(module: Module, facts: ConfirmedFacts, context: Pick<StageContext, 'call' | 'stored'>) {
  const requests: Params[] = [];
  const came: { -readonly [Key in keyof Came]: Came[Key] } = { kind: 'came', requests };
  const compare = (params: Params, body: Buffer) => {
    requests.push(params);
    came.odd ??= oddPart(module, body, facts);
  };
  const call: StageContext['call'] = async (asked, params, terms) => {
    const outcome = await context.call(asked, params, terms);
    if (outcome.kind === 'answer') compare(params, outcome.body);
    return outcome;
  };
  const stored: StageContext['stored'] = async (asked, params, begun) => {
    const answer = await context.stored(asked, params, begun);
    if (answer !== undefined) compare(params, answer.body);
    return answer;
  };
  return { call, stored, came };
}

/**
 * Reads a list of the company for another stage, `asker`. It is compared as in the stage that buys it, so that one
 * decision holds for both.
 */
export async function readOwnList<Listed>(
  { module, ...asking }: Pick<ModuleTerms, 'stage' | 'space'> & { readonly module: Module; readonly asker: string },
  company: Company,
  context: StageContext,
  read: (context: Pick<StageContext, 'call' | 'stored' | 'keepError'>) => Promise<Listed>,
): Promise<Listed | StageOutcome> {
  const { call, stored, came } = comparing(module, confirmedFacts(company, asking.space, context), context);
  const listed = await read({ ...context, call, stored });
  const compared = await compareModule(module, asking, company, came, context);
  return compared.kind === 'same' ? listed : compared;
}

function read(module: Module, body: Buffer, facts: ConfirmedFacts): Got {
  const { operation, identity, tells, tree, nothing } = module;
  const came = (own?: StatedCompany): Came => ({
    kind: 'came',
    requests: [{ id: facts.id }],
    odd: oddPart(module, body, own?.name == null ? facts : { ...facts, names: [...facts.names, own.name] }),
    ...(own === undefined ? {} : { identity: own }),
  });
  if (identity === 'lite') {
    const lite = readMember(operation, body, 'lite');
    const said = identityIn(lite);
    if (said === undefined && isEmptyBody(body, 'lite')) return nothingIn(module);
    const ids = [readMember(operation, body, 'id'), memberOf(lite, 'id')].map(identifierText);
    const id = ids.find((stated) => stated !== null && stated !== facts.id) ?? null;
    return came({ ...(said ?? UNKNOWN), id });
  }
  if (tells !== undefined) return saysOneOf(body, tells) ? came() : nothingIn(module);
  if (nothing !== undefined && isEmptyBody(body)) return nothingIn(module);
  if (tree !== undefined)
    return memberOf(readAnswer(operation, body) as ExactJson, tree) == null ? nothingIn(module) : came();
  if (identity === undefined) return came();
  const said = identityIn(readAnswer(operation, body) as ExactJson);
  return said === undefined ? nothingIn(module) : came(said);
}

const saysOneOf = (body: Buffer, names: readonly string[]): boolean =>
  someMember(body, (name, first) => names.includes(name) && first !== 'n');

/** Flat, or grouped with provenance (V1-25). Undefined if it has nothing but the requested ID. */
function identityIn(profile: ExactJson | undefined): StatedCompany | undefined {
  if (!isObject(profile)) return undefined;
  const { id, ...members } = profile;
  if (isEmptyValue(members)) return undefined;
  const text = (name: string, group: string): string | null =>
    identifierText(members[name] ?? memberOf(members[group], name));
  return {
    id: identifierText(id),
    name: text('name', 'basic'),
    registration_number: text('registration_number', 'basic'),
    vat_number: null,
    country_code: text('country_code', 'address'),
  };
}

const UNKNOWN: StatedCompany = {
  id: null,
  name: null,
  registration_number: null,
  vat_number: null,
  country_code: null,
};

const memberOf = (value: ExactJson | undefined, name: string): ExactJson | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** A part of an answer that names another company than the confirmed one. */
interface OddPart {
  readonly stated: StatedCompany;
  readonly problems: readonly string[];
}

/** The facts of the match in this space, else in another one. */
export function confirmedFacts(
  company: Company,
  space: IdSpace,
  { nameAgreement }: Pick<StageContext, 'nameAgreement'>,
): ConfirmedFacts {
  const { id, candidate } = requireIdentified(company, space);
  const known = candidate ?? confirmedElsewhere(company.ids);
  const names = [known?.name, company.enquiry.subject.name].filter(
    (name) => name != null && name.trim() !== '',
  ) as string[];
  return {
    id,
    registration_number: known?.registration_number ?? null,
    country_code: known?.country_code ?? null,
    names,
    nameAgreement,
  };
}

/** The first part of an answer that contradicts the confirmed company. Everything that names a company is compared. */
function oddPart(module: Module, body: Buffer, facts: ConfirmedFacts): OddPart | undefined {
  const { operation, tree } = module;
  const nodes = tree === undefined ? undefined : memberOf(readAnswer(operation, body) as ExactJson, tree);
  const another = Array.isArray(nodes) ? oddTree(nodes, facts) : undefined;
  if (another !== undefined) return another;
  for (const stated of statedIn(module, body)) {
    const problems = contradictionsOf(stated, facts);
    if (problems.length > 0) return { stated, problems };
  }
  return undefined;
}

function* statedIn({ operation, parts = [], lists = [], sharedId }: Module, body: Buffer): Generator<StatedCompany> {
  yield* statedCompanies(readStatements(operation, body));
  for (const part of parts) yield* statedCompanies(readStatements(operation, body, part));
  if (!body.includes('"company')) return;
  if (sharedId !== undefined) yield* companyOfAll(readMember(operation, body, sharedId));
  for (const list of lists) {
    const items = readMember(operation, body, list);
    if (Array.isArray(items)) for (const item of items) yield* companyOfItem(item);
  }
}

/**
 * The company that an item of a list belongs to, with the names of the documents: `company_id`, `company_name` and
 * `registration_number`. A name or a number alone may be that of an officer which is a company.
 */
function companyOfItem(item: ExactJson): readonly StatedCompany[] {
  if (!isObject(item)) return [];
  const own = Object.entries(item).filter(([name]) => /^(?:company|registration_?number$)/i.test(name));
  return statedCompanies(Object.fromEntries(own)).filter(
    ({ id, name, registration_number }) => id !== null || (name !== null && registration_number !== null),
  );
}

/**
 * The document does not say whose ID the `company_id` of a holding is. Only if several items have the same ID, it cannot
 * be the holder's.
 */
function companyOfAll(items: ExactJson | undefined): readonly StatedCompany[] {
  if (!Array.isArray(items) || items.length < 2) return [];
  const [id = null, ...others] = new Set(items.map((item) => identifierText(memberOf(item, 'company_id'))));
  return id === null || others.length > 0 ? [] : [{ ...UNKNOWN, id }];
}

/** An empty answer is paid for. It says neither yes nor no about the company (V1-22). */
function nothingIn({ identity, operation, nothing }: Module): NotAvailable {
  if (nothing !== undefined) return nothingReturned(nothing.code, nothing.message);
  const message = `the provider returned ${identity === 'lite' ? 'an empty record' : `an empty answer to ${operation.name}`}`;
  const code = identity === 'lite' ? 'EMPTY_RECORD' : 'NOTHING_RETURNED';
  return nothingReturned(code, message);
}

type Comparison = { readonly kind: 'same'; readonly ids?: NonNullable<StageOutcome['ids']> } | StageOutcome;

/**
 * A profile must have the number and country of the match, and nothing in an answer may name another company (X-7).
 * Otherwise a person accepts the answer with its difference or refuses it. Until then no table shows it.
 */
async function compareModule(
  { operation, identity: where }: Module,
  { stage, space, asker = stage }: Pick<ModuleTerms, 'stage' | 'space'> & { readonly asker?: string },
  company: Company,
  { identity, odd, requests }: Came,
  context: Pick<StageContext, 'questions' | 'keepAgreement' | 'nameAgreement'>,
): Promise<Comparison> {
  const found = requireIdentified(company, space);
  const facts = confirmedFacts(company, space, context);
  const difference =
    (identity && differenceOfProfile(identity, found)) ?? (odd && differenceOfPart(odd, { stage, operation, facts }));
  const compared = requests.map((params) => ({ operation, params, company: { space, id: found.id } }));
  if (difference === undefined) {
    for (const one of compared) context.keepAgreement(one);
    return { kind: 'same' };
  }
  const { key, message } = difference;
  let decided: Awaited<ReturnType<typeof askAboutMismatch>> = 'accepted';
  for (const one of compared) {
    const question = { space, stage: asker, key, candidateId: found.id, compared: one } as const;
    decided = await askAboutMismatch(question, message, found.grade, context);
  }
  if (decided === 'accepted') return { kind: 'same', ...(where && acceptedProfile(space, found)) };
  if (decided !== 'refused') return decided;
  if (where === undefined) return nothingReturned('REVIEWED', PART_REFUSED);
  return refusedProfile(space, 'record', space === 'v2' && company.ids.v1 !== undefined);
}

export interface Difference {
  readonly key: string;
  readonly message: string;
}

function differenceOfProfile(said: StatedCompany, { id, candidate }: Identified): Difference | undefined {
  if (candidate === null) throw new Error('a record is bought only for a candidate that was seen');
  const problem = recordProblem(candidate, said);
  const otherId = said.id === null || said.id === id ? undefined : said.id;
  if (problem === undefined && otherId === undefined) return undefined;
  const isRenamed = said.name !== null && said.name !== candidate.name;
  const problems = [
    otherId === undefined ? [] : [`the record is of ${otherId}, but kybatch asked for ${id}`],
    problem ?? [],
    isRenamed ? [`the record is named ${said.name}`] : [],
  ].flat();
  const key = `${recordKey(candidate, said)}${otherId === undefined ? '' : `|${otherId}`}`;
  return { key, message: problems.join('. ') };
}

/** A number that was not stated does not differ. */
function differenceOfPart(
  { stated, problems }: OddPart,
  {
    stage,
    operation,
    facts,
  }: Pick<ModuleTerms, 'stage'> & Pick<Module, 'operation'> & { readonly facts: ConfirmedFacts },
): Difference {
  const { id, name, country_code } = stated;
  const registration_number = stated.registration_number ?? facts.registration_number;
  const key = recordKey(facts, { registration_number, country_code }, stage, [operation.name, id, name]);
  return { key, message: `${operation.name} names another company: ${problems.join(', and ')}` };
}

const PART_REFUSED = 'a person refused the answer because it names another company';

const acceptedProfile = (space: IdSpace, found: Identified) => ({
  ids: { [space]: { ...found, matchedOn: 'review' } },
});

/** If the company is known elsewhere, that match stays: only this module has another company. */
function refusedProfile(space: IdSpace, what: string, isKnownElsewhere: boolean): StageOutcome {
  const message = `a person refused the ${what} because its number or country differs`;
  const ids = { [space]: null };
  return isKnownElsewhere
    ? { ...nothingReturned('REVIEWED', message), ids }
    : { kind: 'no_match', code: 'REVIEWED', message, ids };
}

/**
 * Buys the profile of a module with IDs of its own. A person accepts one that names another company, with its
 * difference, or refuses it. `differenceOf`: undefined if it names the company.
 */
export async function buyProfile(
  { stage, space, operation, nothing }: ProfileTerms,
  company: Company,
  context: StageContext,
  differenceOf: (body: Buffer) => Difference | undefined,
): Promise<StageOutcome> {
  const confirmed = requireIdentified(company, space);
  const params = { id: confirmed.id };
  const outcome = await context.call(operation, params);
  if (outcome.kind !== 'answer') return await withoutAnswerAbout(operation, params, outcome, context);
  if (isEmptyBody(outcome.body, 'id')) return nothingReturned('EMPTY_PROFILE', nothing);
  const difference = differenceOf(outcome.body);
  const compared = { operation, params, company: { space, id: confirmed.id } };
  if (difference === undefined) {
    context.keepAgreement(compared);
    return { kind: 'done' };
  }
  const { key, message } = difference;
  const question = { space, stage, key, candidateId: confirmed.id, compared };
  const decided = await askAboutMismatch(question, message, confirmed.grade, context);
  if (decided === 'accepted') return { kind: 'done', ...acceptedProfile(space, confirmed) };
  if (decided !== 'refused') return decided;
  return refusedProfile(
    space,
    'profile',
    Object.keys(company.ids).some((other) => other !== space),
  );
}

interface ProfileTerms extends Pick<ModuleTerms, 'stage' | 'space'>, Pick<Module, 'operation'> {
  readonly nothing: string;
}

/**
 * The company that a group tree marks, if it is another than the match, or the root of a tree without the match. A
 * marked company differs if neither its ID nor its number is the confirmed one. Without a number its name decides. Trees
 * may be very deep, so there is no recursion.
 */
function oddTree(tree: readonly ExactJson[], facts: ConfirmedFacts): OddPart | undefined {
  const { id, registration_number: confirmed, country_code } = facts;
  const isOwn = (node: StatedCompany): boolean =>
    node.id === id ||
    (node.registration_number !== null &&
      confirmed !== null &&
      readNumberWithCountry(node.registration_number, confirmed, country_code?.toUpperCase() ?? '').isSame);
  let root: StatedCompany | undefined;
  let marked: StatedCompany | undefined;
  let isListed = false;
  const pending: ExactJson[] = [...tree].reverse();
  while (pending.length > 0) {
    const object = pending.pop();
    if (!isObject(object)) continue;
    const { selected, children, country: _, ...members } = object;
    if (Array.isArray(children)) for (let at = children.length - 1; at >= 0; at--) pending.push(children[at] ?? null);
    const [node] = statedCompanies(members);
    if (node === undefined) continue;
    root ??= node;
    if (isOwn(node)) isListed = true;
    if (selected !== true) continue;
    if (isOwn(node)) return undefined;
    const hasNumber = node.registration_number !== null && confirmed !== null;
    if (hasNumber || contradictionsOf({ ...UNKNOWN, name: node.name }, facts).length > 0) marked ??= node;
  }
  if (marked === undefined && (isListed || root?.registration_number == null || confirmed === null)) return undefined;
  const stated = marked ?? root;
  return (
    stated && { stated, problems: [marked === undefined ? lacksCompany(stated, facts) : marksAnother(stated, facts)] }
  );
}

const inWords = ({ id, name, registration_number }: StatedCompany): string =>
  `${registration_number ?? id}${name === null ? '' : ` (${name})`}`;

const marksAnother = (node: StatedCompany, { registration_number }: ConfirmedFacts): string =>
  `its group tree marks ${inWords(node)}, but the confirmed company has ${registration_number ?? 'another ID'}`;

const lacksCompany = (root: StatedCompany, { registration_number }: ConfirmedFacts): string =>
  `its group tree of ${inWords(root)} does not have the confirmed company ${registration_number}`;
