import { countryProblem } from '../domain/enquiry.js';
import type { ListOptions } from './portfolio.js';

/** Whether no row of the file can be worked on. Then nothing can be spent either, and nobody need be asked about it. */
export async function isAllInvalid({ table, limit }: Pick<ListOptions, 'table' | 'limit'>): Promise<boolean> {
  for await (const { row, fields, problem } of table.rows()) {
    if (limit !== null && row > limit) return true;
    if (problem === undefined && countryProblem(fields) === undefined) return false;
  }
  return true;
}
