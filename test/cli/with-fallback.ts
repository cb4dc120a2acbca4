import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Company } from '../../src/sandbox/registry/types.js';
import { findCompany } from '../helpers/sandbox.js';
import { type EndJson, type Job, type JobOptions, jsonOf, withJob } from './here.js';

type Cells = Readonly<Record<string, string>>;

export interface FallbackJob extends Job {
  /** A company that both APIs know, with a website, a LinkedIn address, an LEI, a phone number and an e-mail address. */
  readonly company: Company;
  readonly leads: Readonly<Record<'website' | 'linkedin' | 'lei' | 'email' | 'phone', string>>;
  /** Runs these rows. Returns the end, and the written tables. */
  readonly runRows: (rows: readonly object[], args?: readonly string[]) => Promise<FallbackEnd>;
}

export interface FallbackEnd {
  readonly code: number | null;
  readonly end: EndJson;
  readonly rows: readonly Cells[];
  readonly candidates: readonly Cells[];
  readonly errors: readonly Cells[];
  /** The sent operations, in order. */
  readonly sent: readonly string[];
}

/** No company has this number, and it is valid. */
export const NOBODYS_NUMBER = '99999998';
export const NOBODYS_NAME = 'Quokka Vexillology Partnership';

/** A sandbox, a pipeline with fallbacks, and a company that they know. */
export async function withFallback<T>(
  fallback: readonly string[],
  use: (job: FallbackJob) => Promise<T>,
  { pipeline = ['stages: [record]'], ...options }: JobOptions = {},
): Promise<T> {
  const lines = [...pipeline, `search: {fallback: [${fallback.join(', ')}]}`];
  return await withJob({ size: 2000, ...options, pipeline: lines }, async (job) => {
    const { registry } = job.sandbox;
    const company = findCompany(job.sandbox, (one) => {
      const { website, linkedin, phone, email } = registry.facts(one);
      const isWhole = website !== null && linkedin !== null && phone.length > 0 && email !== null;
      const traits = registry.traits(one);
      const isPlain = one.countryCode === 'GB' && !traits.namesake && !traits.identityMismatch && !traits.noRecord;
      return isWhole && isPlain && registry.inV2(one) && registry.lei(one) !== null && one.registrationNumber !== null;
    });
    const facts = registry.facts(company);
    const leads = {
      website: facts.website ?? '',
      linkedin: facts.linkedin ?? '',
      lei: registry.lei(company) ?? '',
      email: facts.email ?? '',
      phone: facts.phone[0] ?? '',
    };
    const runRows = async (rows: readonly object[], args: readonly string[] = []): Promise<FallbackEnd> => {
      job.writeCsv('in.csv', rows);
      const before = job.sandbox.requestLog.length;
      const pipeline = args.includes('--pipeline') ? [] : ['--pipeline', './p.yaml'];
      const run = ['run', 'in.csv', ...pipeline, '--json', '--yes', '--out', 'tables', ...args];
      const finished = await job.kybatch(run);
      const table = (name: string): readonly Cells[] =>
        parse(readFileSync(join(job.cwd, 'tables', `${name}.csv`)), { columns: true });
      const sent = job.sandbox.requestLog
        .slice(before)
        // Without the free checks before a run.
        .filter(({ operation, path, body }) => operation !== 'metrics' && !path.includes('/kyb/0/') && body !== '{}')
        .flatMap(({ operation }) => operation ?? []);
      return {
        code: finished.code,
        end: jsonOf<EndJson>(finished),
        rows: table('rows'),
        candidates: table('candidates'),
        errors: table('errors'),
        sent,
      };
    };
    return await use({ ...job, company, leads, runRows });
  });
}
