// Looks companies up by name and number: in the lists, in stored searches, and at the provider if units are allowed.

import { v1Operations } from '../../api/v1/operations.js';
import type { AnswerSource, AnyClient, DoorRequest } from '../../calls/request.js';
import { type LoadedPipeline, loadPipeline } from '../../config/pipeline.js';
import { type CandidateFacts, gradeCandidate, type Subject } from '../../domain/candidate-grade.js';
import { ExitCode, KybatchError } from '../../domain/errors.js';
import { fieldAgreements } from '../../domain/grade-order.js';
import { decide, type GradedCandidate } from '../../domain/match-decision.js';
import { parseRegistrationNumber } from '../../domain/numbers/parse.js';
import { ID_SPACES, type IdSpace } from '../../domain/provider.js';
import { type RowFields, readSearchSubject, type SearchSubject } from '../../domain/search-subject.js';
import { StoredAnswersOnly } from '../../engine/row-cost.js';
import { RowNotes } from '../../engine/row-state.js';
import { StageContexts } from '../../engine/stage-contexts.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { PortfolioRecord } from '../../ledger/portfolio/portfolios.js';
import { resolve } from '../../stages/identity/resolve.js';
import type { StageOutcome } from '../../stages/stage.js';
import { message } from '../../util/message-parts.js';
import { withoutEmails } from '../../util/sanitize-text.js';
import { type AppEnvironment, processEnvironment, withLedger } from '../environment.js';
import { DIRECT_RETRY, STOP_AT_OUTAGE, UnitLimit, withDirectDoors } from '../provider/direct-calls.js';
import {
  checkOperations,
  isSelectedProvider,
  type ProviderOptions,
  providerNames,
  required,
  withLedgerAndProvider,
} from '../provider/provider.js';
import { providerIdsOf, wholeNumber } from '../run/spending.js';
import { readListedRows, refuseLongSearch } from './rows.js';

/** What is known of a company. A name or a number is enough, but only a number confirms. */
export type LookUpQuery = Pick<RowFields, 'name' | 'country' | 'registration_number' | 'state' | 'city'>;

export const LOOK_UP_FIELDS = [
  { id: 'name', name: 'Name', description: 'Name of the company' },
  { id: 'country', name: 'Country', description: 'Country, as a code or a name' },
  { id: 'registration_number', name: 'Registration number', description: 'Number in the register of its country' },
  { id: 'state', name: 'State', description: 'State or province of the register' },
  { id: 'city', name: 'City', description: 'City, or the court of a German register' },
] as const satisfies readonly { readonly id: keyof LookUpQuery; readonly name: string; readonly description: string }[];

export interface LookUpOptions extends ProviderOptions {
  readonly queries: readonly LookUpQuery[];
  /** The units that searches may cost. Absent: nothing is bought. */
  readonly unitLimit?: UnitLimit | undefined;
}

export interface LookUpView {
  /** One for each query, in their order. */
  readonly results: readonly LookUpResult[];
  readonly unitsSpent: number;
}

export interface LookUpResult {
  /** The match first, then by score. */
  readonly candidates: readonly LookedUpCompany[];
  /** Why nothing is confirmed, in words. Null: something is. */
  readonly problem: string | null;
}

export interface LookedUpCompany {
  /** Such as `v1-123`. */
  readonly key: string;
  readonly space: IdSpace;
  readonly id: string;
  readonly name: string | null;
  readonly registrationNumber: string | null;
  readonly countryCode: string | null;
  readonly matchGrade: string;
  /** From 0 to 100. With an equal number at least 50, with a different number or country at most 50. */
  readonly score: number;
  /** From 0 to 100. Null: one of the names is missing. */
  readonly nameSimilarity: number | null;
  /** A run would confirm it, and its number agrees. */
  readonly match: boolean;
  readonly evidence: readonly string[];
}

/** Stored answers come first, and are free. Only a query without a match buys searches. */
export async function lookUp(options: LookUpOptions, environment = processEnvironment()): Promise<LookUpView> {
  const { queries, unitLimit } = options;
  for (const query of queries) refuseLongSearch({ ...query });
  const policy = loadPipeline(RULES_FROM, environment.cwd);
  const stored = queries.map((query): Looked => {
    const reading = readSearchSubject(query);
    const read = reading.ok ? { enquiry: reading.enquiry } : { enquiry: undefined, problem: reading.message };
    return { query, policy, problem: null, outcome: undefined, seen: [], ...read };
  });
  await readStored(stored, options, environment);
  let unitsSpent = 0;
  const open = stored.filter(({ enquiry, outcome }) => enquiry !== undefined && outcome?.kind !== 'done');
  if (unitLimit !== undefined && unitLimit.left > 0 && open.length > 0)
    await unitLimit.inTurn(async () => {
      const before = unitLimit.spent;
      await buySearches(open, unitLimit, options, environment);
      unitsSpent = unitLimit.spent - before;
    });
  return { results: stored.map(resultOf), unitsSpent };
}

/** The pipeline whose rules for searches and matches apply. */
const RULES_FROM = 'analyst';

interface Looked {
  readonly query: LookUpQuery;
  /** Undefined: it cannot be searched for. */
  readonly enquiry: SearchSubject | undefined;
  readonly policy: LoadedPipeline;
  problem: string | null;
  /** What a run would decide by the searches. */
  outcome: StageOutcome | undefined;
  readonly seen: Known[];
}

interface Known {
  readonly space: IdSpace;
  readonly facts: CandidateFacts;
}

async function readStored(
  looked: readonly Looked[],
  options: LookUpOptions,
  environment: AppEnvironment,
): Promise<void> {
  try {
    await withLedger('read', options, environment, async (ledger) => {
      const environments = await providerIdsOf(providerNames(options, environment), ledger);
      const door = new StoredAnswersOnly(ledger.calls, environments);
      const searchContext = { ledger, door, environments, now: environment.clock.now(), isFree: true };
      const all = await ledger.portfolios.all();
      const lists = all.filter(({ providers }) => isSelectedProvider(options, providers));
      for (const one of looked) {
        await search(one, searchContext);
        one.seen.push(...(await listedCompanies(one.query, lists, ledger)));
      }
    });
  } catch (error) {
    if (!(error instanceof KybatchError) || error.code !== 'NO_LEDGER_YET') throw error;
  }
}

/** Another process may have the ledger. Then the stored answers have to do. */
async function buySearches(
  open: readonly Looked[],
  unitLimit: UnitLimit,
  options: LookUpOptions,
  environment: AppEnvironment,
): Promise<void> {
  try {
    await withLedgerAndProvider('write', options, environment, async ({ v1, names }, workplace) => {
      const { ledger, clock } = workplace;
      const environmentId = await ledger.calls.environment('v1', names.v1);
      const client = unitLimit.counting(required(v1, 'v1') as unknown as AnyClient);
      const apis = { v1: { client, environmentId }, v2: null };
      await withDirectDoors(apis, {}, workplace, async (openDoor, broken) => {
        const policy = { retry: DIRECT_RETRY, concurrency: 4, breaker: STOP_AT_OUTAGE };
        const door = openDoor({ ...policy, ...unitLimit.policy() });
        const environments = { v1: environmentId, v2: null };
        const searchContext = { ledger, door, environments, now: clock.now(), isFree: false };
        await Promise.all(open.map((one) => search(one, searchContext)));
        if (broken.aborted) throw broken.reason;
        if (door.stopped !== undefined) throw door.stopped;
      });
    });
  } catch (error) {
    if (!(error instanceof KybatchError) || error.exit !== ExitCode.locked) throw error;
    environment.onNote?.(
      message('LOOK_UP_WITHOUT_LEDGER', 'Another process has the ledger: only stored answers were used.'),
    );
  }
}

interface SearchContext {
  readonly ledger: Ledger;
  readonly door: AnswerSource;
  readonly environments: { readonly v1: number | null; readonly v2: number | null };
  readonly now: number;
  /** Only stored searches, of any age. */
  readonly isFree: boolean;
}

async function search(one: Looked, searchContext: SearchContext): Promise<void> {
  const { ledger, door, environments, now, isFree } = searchContext;
  const { enquiry, policy, seen } = one;
  if (enquiry === undefined) return;
  const contexts = new StageContexts({
    runId: null,
    door: outsideRows(door, isFree ? { reusableSince: 0 } : {}),
    review: ledger.review,
    clock: { now: () => now },
    pipeline: { ...policy, stages: [] },
    environments,
    notBefore: 0,
  });
  const notes = new RowNotes();
  const context = contexts.contextFor({ row: 0, notBefore: null, holdReason: null }, 'resolve', notes);
  const attempts = isFree ? 0 : policy.search.attempts;
  const outcome = await resolve(
    'v1',
    { row: 0, enquiry, ids: {}, confirmedBefore: {} },
    { ...policy, search: { ...policy.search, attempts, fallback: [] } },
    {
      ...context,
      keepCandidates: (space, found) => seen.unshift(...found.map(({ candidate: facts }) => ({ space, facts }))),
    },
  );
  if (!isFree) for (const use of notes.all().uses) await ledger.calls.recordUse(use);
  const isDecided = ['done', 'no_match', 'needs_review'].includes(outcome.kind);
  if (isDecided && !(isFree && seen.length === 0)) one.outcome = outcome;
  if (isFree || isDecided) return;
  // The limit or the provider held it up. What it has found so far is stored.
  one.problem = 'message' in outcome ? outcome.message : outcome.kind;
  await search(one, { ...searchContext, isFree: true });
}

const outsideRows = (door: AnswerSource, terms: Partial<DoorRequest>): AnswerSource => ({
  call: (request) => door.call({ ...request, ...terms, row: null, stage: null }),
  stored: (request) => door.stored({ ...request, ...terms, row: null, stage: null }),
  settleLost: (request, charge, note) => door.settleLost(request, charge, note),
});

/** The confirmed companies of the lists whose number or name may be the wanted one. */
async function listedCompanies(
  query: LookUpQuery,
  lists: readonly PortfolioRecord[],
  ledger: Ledger,
): Promise<readonly Known[]> {
  const found = new Map<string, Known>();
  for (const text of searchTexts(query)) {
    const scope = { portfolioIds: lists.map(({ id }) => id) };
    const page = { filter: {}, order: 'row', descending: false, offset: 0, limit: ROWS_AT_MOST } as const;
    const rows = await ledger.rows.findRows({ scope, search: text, ...page });
    for (const row of await readListedRows(rows, lists, ledger)) {
      if (row.company === null) continue;
      const { space, id } = row.company;
      found.set(keyOfCompany(space, id), {
        space,
        facts: {
          id,
          name: row.matchedName,
          registration_number: row.matchedRegistrationNumber,
          vat_number: null,
          country_code: row.matchedCountry,
          state: null,
          jurisdiction: row.matchedRegister,
        },
      });
    }
  }
  return [...found.values()];
}

const ROWS_AT_MOST = 50;

/** Lists are searched for parts of texts: the digits of the number, and the longest words of the name. */
function searchTexts({ name = '', registration_number: number = '' }: LookUpQuery): readonly string[] {
  const digits = number.replaceAll(/[ ./-]/g, '').match(/[1-9]\d{3,}/g) ?? [];
  const words = name.match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  const longest = (texts: readonly string[]) => texts.toSorted((a, b) => b.length - a.length);
  return [...longest(digits).slice(0, 1), ...longest(words).slice(0, 2)];
}

function resultOf(one: Looked): LookUpResult {
  const { query, enquiry, outcome, policy } = one;
  // Without a country nothing is confirmed, but candidates can be shown.
  const subject = enquiry?.subject ?? withoutCountry(query);
  const graded = new Map<string, GradedCandidate & { readonly space: IdSpace }>();
  for (const { space, facts } of one.seen) {
    const key = keyOfCompany(space, facts.id);
    if (!graded.has(key))
      graded.set(key, { space, candidate: { ...facts, id: key }, graded: gradeCandidate(subject, facts) });
  }
  const all = [...graded.values()];
  const decided = outcome?.kind === 'done' ? outcome.ids?.v1?.id : undefined;
  const isOpen = outcome === undefined || (outcome.kind === 'no_match' && outcome.code !== 'REVIEWED');
  const decision = enquiry !== undefined && isOpen ? decide(subject, all, policy.match) : undefined;
  const confirmed =
    decided === undefined
      ? decision?.kind === 'confirmed'
        ? decision.candidate.id
        : undefined
      : keyOfCompany('v1', decided);
  const candidates = all
    .map((known) => toCompany(known, confirmed))
    .filter(({ score }) => score >= LEAST_SCORE)
    .sort((a, b) => Number(b.match) - Number(a.match) || b.score - a.score);
  const [said = NOTHING_STORED] = [decision, outcome].flatMap((reason) =>
    reason !== undefined && 'message' in reason ? [reason.message] : [],
  );
  const isMatched = candidates.some(({ match }) => match);
  return { candidates, problem: isMatched ? null : withoutEmails(one.problem ?? said) };
}

const NOTHING_STORED = 'nothing is stored about it';

/** Others only share a word with the name. */
const LEAST_SCORE = 50;

const withoutCountry = ({ name, registration_number: number }: LookUpQuery): Subject => ({
  countryCode: '',
  ...(name === undefined ? {} : { name }),
  ...(number === undefined ? {} : { registrationNumber: parseRegistrationNumber(number, '') }),
});

function toCompany(
  { space, candidate, graded }: GradedCandidate & { readonly space: IdSpace },
  confirmed: string | undefined,
): LookedUpCompany {
  const { grade, nameScore, evidence } = graded;
  const of = (field: string) => fieldAgreements(grade).find((one) => one.field === field)?.agreement;
  const sameNumber = of('number') === 'same' || of('number') === 'similar';
  const other = of('number') === 'different' || of('country') === 'different';
  const score = other ? (nameScore ?? 0) / 2 : sameNumber ? 50 + (nameScore ?? 100) / 2 : (nameScore ?? 0);
  const shown = (text: string | null) => text && withoutEmails(text);
  return {
    key: candidate.id,
    space,
    id: candidate.id.slice(space.length + 1),
    name: shown(candidate.name),
    registrationNumber: shown(candidate.registration_number),
    countryCode: candidate.country_code,
    matchGrade: grade,
    score: Math.round(score),
    nameSimilarity: nameScore,
    match: candidate.id === confirmed && sameNumber,
    evidence: evidence.map(withoutEmails),
  };
}

export const keyOfCompany = (space: IdSpace, id: string): string => `${space}-${id}`;

/** The company of a key. Undefined: it is none. */
export function companyOfKey(key: string): { readonly space: IdSpace; readonly id: string } | undefined {
  const space = ID_SPACES.find((known) => known !== 'report' && key.startsWith(`${known}-`));
  return space === undefined ? undefined : { space, id: key.slice(space.length + 1) };
}

/** The unit limit of a process, checked before anything is served. Undefined: nothing may be bought. */
export function unitLimitFor(
  maxUnits: number | undefined,
  options: ProviderOptions,
  environment: AppEnvironment,
): UnitLimit | undefined {
  const units = wholeNumber('--max-units', maxUnits, 0) ?? 0;
  if (units === 0) return undefined;
  checkOperations([v1Operations.searchKyb], options, environment);
  return new UnitLimit(units);
}
