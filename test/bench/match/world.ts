import type { Operation } from '../../../src/api/operation.js';
import type { CallOutcome } from '../../../src/calls/request.js';
import { defaultMatchPolicy, type MatchPolicy } from '../../../src/domain/match-decision.js';
import { readSearchSubject } from '../../../src/domain/search-subject.js';
import { writeJson } from '../../../src/sandbox/json.js';
import type { Registry } from '../../../src/sandbox/registry/index.js';
import type { Company as Registered, SearchKind } from '../../../src/sandbox/registry/types.js';
import type { SampleInput } from '../../../src/sandbox/sample.js';
import { type IdentityPolicy, resolve } from '../../../src/stages/identity/resolve.js';
import { recordOptions, recordStage } from '../../../src/stages/record.js';
import type { Company, Params, StageContext, StageOutcome } from '../../../src/stages/stage.js';

/** The outcome of a row's match. */
export interface Ending {
  readonly kind: 'confirmed' | 'needs_review' | 'no_match' | 'invalid';
  /** The reason, if there is one. */
  readonly code: string;
  readonly v1: string | null;
  readonly searches: number;
  readonly v2: Side;
  readonly credit: Side;
}

/** The outcome of the other two matches: an ID, a question, or nothing. */
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

/** Takes a row through the real stages, without HTTP and the ledger. */
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
  const reading = readSearchSubject(fields);
  if (!reading.ok) return ended('invalid', reading.code);
  const policy: IdentityPolicy = { search: SEARCHES, match: setting.policy ?? defaultMatchPolicy };
  const unknown: Company = { row: 1, enquiry: reading.enquiry, ids: {}, confirmedBefore: {} };
  const resolved = await resolve('v1', unknown, policy, context);
  const v1 = resolved.ids?.v1;
  if (resolved.kind !== 'done' || v1 == null) return ended(kindOf(resolved), codeOf(resolved));
  const company: Company = { ...unknown, ids: { v1 } };
  const bought = await recordStage.run(company, context);
  if (bought.kind === 'needs_review') return ended('needs_review', bought.code);
  const searches = context.searches;
  const v2 = await resolve('v2', company, policy, context);
  const credit = await resolve('credit', company, policy, context);
  return {
    kind: 'confirmed',
    code: v1.matchedOn ?? '',
    v1: v1.id,
    searches,
    v2: sideOf(v2, v2.ids?.v2?.id),
    credit: sideOf(credit, credit.ids?.credit?.id),
  };
}

const SEARCHES: IdentityPolicy['search'] = {
  attempts: 2,
  order: ['registration_number', 'vat_number', 'name'],
  furtherSpellings: true,
  fallback: [],
};

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

function contextOf({ registry, search }: Setting): StageContext & { searches: number } {
  const context = {
    options: recordOptions.schema.parse(undefined),
    shared: undefined,
    optionsOf: () => undefined,
    searches: 0,
    now: () => 0,
    nameAgreement: 85,
    freshnessMs: () => 0,
    call: async (operation: Operation, params: Params) => {
      if (operation.name !== 'fullKyb') context.searches += 1;
      return answer(registry, search, operation.name, params);
    },
    stored: async () => undefined,
    settleLost: async () => {},
    questions: {
      remembered: async () => undefined,
      corrections: async () => undefined,
      wasWithdrawn: async () => false,
      keep: () => {},
    },
    keepError: () => {},
    keepCandidates: () => {},
    claimId: async () => undefined,
    keepAgreement: () => {},
  };
  return context;
}

function answer(registry: Registry, search: SearchKind, operation: string, params: Params): CallOutcome {
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
        return { kind: 'not_available', error: new Error('no record') } as unknown as CallOutcome;
      return body({ lite: registry.v1.lite(company, false) });
    }
    default:
      throw new Error(`the bench does not answer ${operation}`);
  }
}

const body = (value: Parameters<typeof writeJson>[0]): CallOutcome => ({
  kind: 'answer',
  body: Buffer.from(writeJson(value)),
  owned: false,
  fetchedAt: 0,
  use: null,
});
