import { readMember } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import { v1Operations } from '../api/v1/operations.js';
import { recordKey } from '../domain/entity-key.js';
import { postCheck } from '../domain/post-check.js';
import {
  type Company,
  type Confirmed,
  type StageContext,
  type StageOutcome,
  toStageError,
  withoutAnswer,
} from './stage.js';

/** Buys the full record of the confirmed company, and compares its own number once more. */
export async function record(company: Company, context: StageContext): Promise<StageOutcome> {
  if (company.v1 === null) throw new Error('a record is bought only for a confirmed company');
  const { candidate } = company.v1;
  const provenance = context.policy.provenance ? { include_provenance: true } : {};
  const outcome = await context.call({ api: 'v1', operation: 'fullKyb', params: { id: candidate.id, ...provenance } });
  if (outcome.kind !== 'answer') return withoutAnswer(outcome);
  const lite = readLite(outcome.body);
  if (lite instanceof ApiError) return { kind: 'failed', error: toStageError(lite, 1) };
  const check = postCheck(candidate, lite);
  if (check.ok) return { kind: 'done' };
  return await askAboutRecord(company.v1, lite, check.message, context);
}

/**
 * The record is paid for, and it is not what was confirmed. A person accepts it with its difference, or refuses the
 * company; the answer holds for this very difference.
 */
async function askAboutRecord(
  confirmed: Confirmed,
  lite: Identity,
  message: string,
  context: StageContext,
): Promise<StageOutcome> {
  const { candidate, grade } = confirmed;
  const question = { about: 'record', key: recordKey(candidate, lite), candidateId: candidate.id } as const;
  const remembered = await context.remembered(question);
  const code = 'IDENTITY_MISMATCH';
  if (remembered === undefined || remembered.decision === 'not_sure') {
    context.keepQuestion(question, { answered: false, code, message });
    return { kind: 'needs_review', code, message, grade };
  }
  context.keepQuestion(question, { answered: true, code, message });
  if (remembered.decision === 'confirm') return { kind: 'done', facts: { v1: { ...confirmed, matchedOn: 'review' } } };
  const refused = 'a person refused the record, whose number or country is not what was confirmed';
  return { kind: 'no_match', code: 'REVIEWED', message: refused, facts: { v1: null, v2: null } };
}

interface Identity {
  readonly registration_number: string | null;
  readonly country_code: string | null;
}

function readLite(body: Buffer): Identity | ApiError {
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
