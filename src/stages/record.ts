import { readMember } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import { v1Operations } from '../api/v1/operations.js';
import { recordKey } from '../domain/entity-key.js';
import type { CandidateFacts } from '../domain/grade.js';
import { postCheck } from '../domain/post-check.js';
import { askAboutAnswer } from './ask-about-answer.js';
import {
  type Company,
  type Identified,
  identified,
  type StageContext,
  type StageOutcome,
  stage,
  toStageError,
  withoutAnswer,
} from './stage.js';

/** Buys the full record of the confirmed company, and compares its own number once more. */
export const recordStage = stage({
  name: 'record',
  summary: 'The full record of the company (v1), compared once more with what was confirmed',
  space: 'v1',
  comparesCandidate: true,
  calls: [{ operation: v1Operations.fullKyb, atMost: 1 }],
  run: buyRecord,
});

async function buyRecord(company: Company, context: StageContext): Promise<StageOutcome> {
  const { candidate, ...found } = identified(company, 'v1');
  if (candidate === null) throw new Error('a record is bought only for a candidate that was seen');
  const outcome = await context.call(v1Operations.fullKyb, { id: found.id });
  if (outcome.kind !== 'answer') return withoutAnswer(outcome);
  const lite = readLite(outcome.body);
  if (lite instanceof ApiError) return { kind: 'failed', error: toStageError(lite, 1) };
  const check = postCheck(candidate, lite);
  if (check.ok) return { kind: 'done' };
  return await askAboutRecord({ ...found, candidate }, lite, check.message, context);
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

interface RecordIdentity {
  readonly registration_number: string | null;
  readonly country_code: string | null;
}

function readLite(body: Buffer): RecordIdentity | ApiError {
  try {
    const lite = readMember(v1Operations.fullKyb, body, 'lite');
    const members = typeof lite === 'object' && lite !== null ? (lite as Readonly<Record<string, unknown>>) : {};
    return { registration_number: text(members.registration_number), country_code: text(members.country_code) };
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

const text = (value: unknown): string | null => (value === undefined || value === null ? null : String(value));
