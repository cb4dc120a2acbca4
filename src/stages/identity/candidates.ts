import { readAnswer } from '../../api/answer.js';
import { type Id, idText } from '../../api/schema.js';
import { v1Operations } from '../../api/v1/operations.js';
import { candidatesIn } from '../../api/v1/records.js';
import { v2Operations } from '../../api/v2/operations.js';
import type { CandidateFacts } from '../../domain/grade.js';

/** The candidates of a v1 search, which may come as a list or inside an object (V1-17). */
export function readV1Candidates(body: Buffer): readonly CandidateFacts[] {
  const answer = readAnswer(v1Operations.searchKyb, body);
  const list = Array.isArray(answer) ? answer : (candidatesIn(answer) ?? []);
  return list.map((item) => toFacts(item as Record<string, unknown>));
}

export function readV2Candidates(body: Buffer): readonly CandidateFacts[] {
  return readAnswer(v2Operations.kybSearch, body).map((item) => toFacts(item));
}

/** Report hits name no country, only the search does; their VAT numbers are a list (V2-7). */
export function readReportHits(body: Buffer, country: string): readonly CandidateFacts[] {
  return readAnswer(v2Operations.creditReportSearch, body).map((item) => {
    const vat: unknown = item.vat_number;
    return toFacts({
      ...item,
      vat_number: Array.isArray(vat) ? vat[0] : vat,
      country_code: country,
      state: null,
      jurisdiction: null,
    });
  });
}

const toFacts = (item: Readonly<Record<string, unknown>>): CandidateFacts => ({
  id: idText(item.id as Id),
  name: textOrNull(item.name),
  registration_number: textOrNull(item.registration_number),
  vat_number: textOrNull(item.vat_number),
  country_code: textOrNull(item.country_code),
  state: textOrNull(item.state),
  jurisdiction: textOrNull(item.jurisdiction),
});

const textOrNull = (value: unknown): string | null =>
  value === undefined || value === null || value === '' ? null : String(value);
