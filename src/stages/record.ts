import { readMember } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import { v1Operations } from '../api/v1/operations.js';
import { postCheck } from '../domain/post-check.js';
import { type Company, type StageContext, type StageOutcome, toStageError, withoutAnswer } from './stage.js';

/** Buys the full record of the confirmed company, and compares its own number once more. */
export async function record(company: Company, context: StageContext): Promise<StageOutcome> {
  if (company.v1 === null) throw new Error('a record is bought only for a confirmed company');
  const { candidate, grade } = company.v1;
  const provenance = context.policy.provenance ? { include_provenance: true } : {};
  const outcome = await context.call({ api: 'v1', operation: 'fullKyb', params: { id: candidate.id, ...provenance } });
  if (outcome.kind !== 'answer') return withoutAnswer(outcome);
  const lite = readLite(outcome.body);
  if (lite instanceof ApiError) return { kind: 'failed', error: toStageError(lite, 1) };
  const check = postCheck(candidate, lite);
  if (check.ok) return { kind: 'done' };
  return { kind: 'needs_review', code: 'IDENTITY_MISMATCH', message: check.message, grade };
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
