import { defaultMatchPolicy, type MatchPolicy } from '../../../src/domain/decide.js';
import { readQuestion } from '../../../src/domain/subject.js';
import { write } from '../../../src/sandbox/json.js';
import type { Company as Registered, Registry, SearchKind } from '../../../src/sandbox/registry/types.js';
import type { SampleInput } from '../../../src/sandbox/sample.js';
import { record } from '../../../src/stages/record.js';
import { resolve } from '../../../src/stages/resolve.js';
import type { CallRequest, CallResult, Company, StageContext, StageOutcome } from '../../../src/stages/stage.js';

/** How the journey of a row ended, as far as identity goes. */
export interface Ending {
  readonly kind: 'confirmed' | 'needs_review' | 'no_match' | 'invalid';
  /** The reason, where there is one. */
  readonly code: string;
  readonly v1: string | null;
  readonly searches: number;
  readonly v2: Side;
  readonly credit: Side;
}

/** What became of the other two identities: an ID, a question, or nothing. */
export interface Side {
  readonly id: string | null;
  readonly asked: string | null;
}

export interface Setting {
  readonly registry: Registry;
  readonly search: SearchKind;
  readonly policy?: MatchPolicy;
}

const NOBODY: Side = { id: null, asked: null };

/** Takes a row through the product's own stages; only HTTP and the ledger are left out. */
export async function travel(input: SampleInput, setting: Setting): Promise<Ending> {
  const ended = (kind: Ending['kind'], code: string, v1: string | null = null): Ending => ({
    kind,
    code,
    v1,
    searches: context.searches,
    v2: NOBODY,
    credit: NOBODY,
  });
  const context = contextOf(setting);
  const fields = fieldsOf(input);
  if (fields.name === undefined && fields.registration_number === undefined && fields.vat_number === undefined)
    return ended('invalid', 'NO_IDENTIFIER');
  if (fields.country === undefined) return ended('invalid', 'NO_COUNTRY');
  const reading = readQuestion(fields);
  if (!reading.ok) return ended('invalid', reading.code);
  let company: Company = {
    row: 1,
    question: reading.question,
    v1: null,
    v2: null,
    creditSourceId: null,
    creditReportId: null,
  };
  const resolved = await resolve('v1', company, context);
  if (resolved.kind !== 'done') return ended(kindOf(resolved), codeOf(resolved));
  company = { ...company, ...resolved.facts };
  const id = company.v1?.candidate.id ?? null;
  const bought = await record(company, context);
  if (bought.kind === 'needs_review') return ended('needs_review', bought.code);
  const searches = context.searches;
  const v2 = await resolve('v2', company, context);
  const credit = await resolve('credit', company, context);
  return {
    kind: 'confirmed',
    code: company.v1?.matchedOn ?? '',
    v1: id,
    searches,
    v2: sideOf(v2, v2.facts?.v2?.candidate.id),
    credit: sideOf(credit, credit.facts?.creditSourceId),
  };
}

const sideOf = (outcome: StageOutcome, id: string | null | undefined): Side => ({
  id: id ?? null,
  asked: outcome.kind === 'needs_review' ? outcome.code : null,
});

const kindOf = (outcome: StageOutcome): Ending['kind'] => {
  if (outcome.kind === 'needs_review' || outcome.kind === 'no_match') return outcome.kind;
  throw new Error(`resolve ended as ${outcome.kind}: ${JSON.stringify(outcome)}`);
};

const codeOf = (outcome: StageOutcome): string => ('code' in outcome ? outcome.code : '');

export function fieldsOf(input: SampleInput): Partial<Record<keyof SampleInput, string>> {
  const entries = Object.entries(input).map(([field, text]) => [field, String(text).trim()]);
  return Object.fromEntries(entries.filter(([, text]) => text !== ''));
}

function contextOf({ registry, search, policy = defaultMatchPolicy }: Setting): StageContext & { searches: number } {
  const context = {
    searches: 0,
    policy: {
      search: {
        attempts: 2,
        order: ['registration_number', 'vat_number', 'name'] as const,
        furtherSpellings: true,
      },
      match: policy,
      provenance: false,
      idsShared: false,
      report: { reuseExpired: false, firstPollMs: 1, pollAtMostMs: 1, giveUpAfterMs: 1 },
    },
    now: () => 0,
    call: async (request: CallRequest) => {
      if (request.operation !== 'fullKyb') context.searches += 1;
      return answer(registry, search, request);
    },
    keepCandidates: () => {},
    keepQuestion: () => {},
    remembered: async () => undefined,
    reportHistory: async () => undefined,
    spendCreditReport: () => {
      throw new Error('the bench buys no report');
    },
  };
  return context;
}

function answer(registry: Registry, search: SearchKind, { operation, params }: CallRequest): CallResult {
  const text = (name: string) => params[name] as string | undefined;
  const found = (accepts: (company: Registered) => boolean) =>
    registry
      .search(
        {
          location: text('location') ?? text('country') ?? '',
          name: text('name') ?? text('company'),
          registrationNumber: text('registration_number'),
          vatNumber: text('vat_number'),
          ticker: text('ticker'),
        },
        search,
      )
      .filter(accepts);
  switch (operation) {
    case 'searchKyb':
      return body(found(() => true).map((company) => registry.v1.candidate(company, false)));
    case 'kybSearch':
      return body(found(registry.inV2).map((company) => registry.v2.candidate(company)));
    case 'creditReportSearch':
      return body(found(registry.hasCreditReport).map((company) => registry.v2.reportHit(company)));
    case 'fullKyb': {
      const company = registry.byV1Id(String(params.id));
      if (company === undefined || !registry.hasRecord(company))
        return { kind: 'not_available', error: new Error('no record') } as unknown as CallResult;
      return body({ lite: registry.v1.lite(company, false) });
    }
    default:
      throw new Error(`the bench does not answer ${operation}`);
  }
}

const body = (value: Parameters<typeof write>[0]) =>
  ({ kind: 'answer', body: Buffer.from(write(value)), owned: false, fetchedAt: 0 }) as unknown as CallResult;
