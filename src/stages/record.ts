import { readMember } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import { v1Operations } from '../api/v1/operations.js';
import { recordKey } from '../domain/entity-key.js';
import type { CandidateFacts } from '../domain/grade.js';
import { postCheck } from '../domain/post-check.js';
import type { ExactJson } from '../util/exact-json.js';
import { bodySaysNothing, saysNothing } from '../util/says-nothing.js';
import { askAboutAnswer } from './ask-about-answer.js';
import {
  type Company,
  type Identified,
  identified,
  type StageContext,
  type StageOutcome,
  stage,
  toStageError,
  unanswered,
  withoutAnswerAbout,
} from './stage.js';

/** Buys the full record of the confirmed company, and compares its own number once more. */
export const recordStage = stage({
  name: 'record',
  summary: 'The full record of the company (v1), compared once more with what was confirmed',
  space: 'v1',
  comparesCandidate: true,
  ages: [v1Operations.fullKyb],
  calls: [{ operation: v1Operations.fullKyb, atMost: 1 }],
  run: buyRecord,
});

async function buyRecord(company: Company, context: StageContext): Promise<StageOutcome> {
  const { candidate, ...found } = identified(company, 'v1');
  if (candidate === null) throw new Error('a record is bought only for a candidate that was seen');
  const params = { id: found.id };
  const outcome = await context.call(v1Operations.fullKyb, params);
  if (outcome.kind !== 'answer') return await withoutAnswerAbout(v1Operations.fullKyb, params, outcome, context);
  const lite = readLite(outcome.body);
  if (lite instanceof ApiError) return unanswered(toStageError(lite, 1));
  if (lite === undefined && bodySaysNothing(outcome.body, 'lite')) return NOTHING_RETURNED;
  const identity = lite ?? UNKNOWN;
  const check = postCheck(candidate, identity);
  if (check.ok) return { kind: 'done' };
  const isRenamed = identity.name !== null && identity.name !== candidate.name;
  const message = isRenamed ? `${check.message}; the record is named ${identity.name}` : check.message;
  return await askAboutRecord({ ...found, candidate }, identity, message, context);
}

async function askAboutRecord(
  confirmed: Identified & { readonly candidate: CandidateFacts },
  lite: RecordIdentity,
  message: string,
  context: StageContext,
): Promise<StageOutcome> {
  const { candidate, grade } = confirmed;
  const key = recordKey(candidate, lite);
  const question = { space: 'v1', stage: 'record', key, candidateId: candidate.id } as const;
  const said = await askAboutAnswer(question, message, grade, context);
  if (said === 'accepted') return { kind: 'done', ids: { v1: { ...confirmed, matchedOn: 'review' } } };
  if (said !== 'refused') return said;
  const refused = 'a person refused the record, whose number or country is not what was confirmed';
  return { kind: 'no_match', code: 'REVIEWED', message: refused, ids: { v1: null, v2: null } };
}

/** An empty record is an answer, and it is paid for; it says neither yes nor no about the company (V1-22). */
const NOTHING_RETURNED: StageOutcome = {
  kind: 'not_available',
  message: 'the provider returned a record with nothing in it',
  error: {
    class: 'not_available',
    code: 'EMPTY_RECORD',
    message: 'the provider returned a record with nothing in it',
    requestId: null,
    attempts: 1,
  },
};

interface RecordIdentity {
  readonly name: string | null;
  readonly registration_number: string | null;
  readonly country_code: string | null;
}

const UNKNOWN: RecordIdentity = { name: null, registration_number: null, country_code: null };

/** Undefined where the profile says nothing beyond the ID that was asked for. */
function readLite(body: Buffer): RecordIdentity | ApiError | undefined {
  try {
    const lite = readMember(v1Operations.fullKyb, body, 'lite');
    if (typeof lite !== 'object' || lite === null) return undefined;
    const { id: _, ...members } = lite as { [member: string]: ExactJson };
    if (saysNothing(members)) return undefined;
    const { name, registration_number, country_code } = members;
    return { name: text(name), registration_number: text(registration_number), country_code: text(country_code) };
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

const text = (value: unknown): string | null => (value === undefined || value === null ? null : String(value));
