import { createHash } from 'node:crypto';
import { isAbsolute, relative } from 'node:path';
import type { V2OperationName } from '../api/v2/operations.js';
import type { MatchPolicy } from '../domain/decide.js';
import { UsageError } from '../domain/errors.js';
import { describeProblems } from './describe-problems.js';
import { parseDuration } from './duration.js';
import { findPipeline } from './find-pipeline.js';
import {
  DEFAULT_FRESHNESS,
  type OperationName,
  type PipelineFile,
  pipelineFile,
  type SearchKey,
  STAGE_NAMES,
  type StageName,
} from './pipeline-schema.js';
import { readYaml } from './read-yaml.js';

export { type OperationName, type SearchKey, STAGE_NAMES, type StageName };

/** How a run goes about its work: the pipeline file, validated, with every default filled in. Frozen all the way down. */
export interface Pipeline {
  readonly description: string;
  /** In the order of the journey. */
  readonly stages: readonly StageName[];
  readonly search: {
    readonly attempts: number;
    readonly order: readonly SearchKey[];
    readonly furtherSpellings: boolean;
  };
  readonly match: MatchPolicy;
  /** Read it with `freshnessMs`. */
  readonly freshnessMs: Readonly<Partial<Record<OperationName, number>>>;
  /** Null: no limit. */
  readonly budget: { readonly units: number | null; readonly creditReports: number | null };
  readonly concurrency: number;
  readonly inDoubt: 'resend' | 'park';
  readonly inDoubtCap: number;
  readonly provenance: boolean;
  readonly idsShared: boolean;
  readonly report: {
    readonly reuseExpired: boolean;
    readonly firstPollMs: number;
    readonly pollAtMostMs: number;
    readonly giveUpAfterMs: number;
    readonly format: 'json';
  };
  readonly permissions: Readonly<Record<string, readonly V2OperationName[]>>;
  readonly columns: { readonly [Field in keyof PipelineFile['columns']]?: readonly string[] };
  readonly retry: { readonly attempts: number; readonly baseMs: number; readonly capMs: number };
  readonly breaker: { readonly failures: number };
  readonly deadlineMs: number;
}

export interface LoadedPipeline extends Pipeline {
  readonly name: string;
  /** Absolute path. */
  readonly file: string;
  /** Of what the pipeline buys and how it decides: comments, budgets, speed and patience make no other pipeline. */
  readonly sha256: string;
}

/** Throws a UsageError that lists every problem of the file with key and value. */
export function loadPipeline(nameOrFile: string, cwd: string): LoadedPipeline {
  const { name, file } = findPipeline(nameOrFile, cwd);
  const shownAs = shortPath(file, cwd);
  const content = readYaml(file, shownAs);
  const reading = pipelineFile.safeParse(content);
  if (!reading.success) {
    const problems = describeProblems(reading.error, content);
    throw new UsageError(
      problems.map((problem) => `${shownAs}: ${problem}`).join('\n'),
      'docs/pipelines.md lists every key with its default.',
    );
  }
  const pipeline = toPipeline(reading.data);
  return deepFreeze({ ...pipeline, name, file, sha256: pipelineSha256(pipeline) });
}

/** How long an owned answer of this operation is used again. Infinity: for ever; 0: it is asked anew every time. */
export function freshnessMs(pipeline: Pick<Pipeline, 'freshnessMs'>, operation: string): number {
  return Object.hasOwn(pipeline.freshnessMs, operation) ? (pipeline.freshnessMs[operation as OperationName] ?? 0) : 0;
}

function toPipeline(file: PipelineFile): Pipeline {
  const { search, match, budget, report, retry } = file;
  return {
    description: file.description ?? '',
    stages: STAGE_NAMES.filter((stage) => file.stages.includes(stage)),
    search: { attempts: search.attempts, order: search.order, furtherSpellings: search.further_spellings },
    match: {
      nameAgreement: match.name_agreement,
      confirmOnVat: match.confirm_on_vat,
      confirmRepaired: match.confirm_repaired,
      confirmNumberAlone: match.confirm_number_alone,
    },
    freshnessMs: Object.fromEntries(
      Object.entries({ ...DEFAULT_FRESHNESS, ...file.freshness }).map(([operation, value]) => [operation, ms(value)]),
    ),
    budget: { units: budget.units, creditReports: budget.credit_reports },
    concurrency: file.concurrency,
    inDoubt: file.in_doubt,
    inDoubtCap: file.in_doubt_cap,
    provenance: file.provenance,
    idsShared: file.ids_shared,
    report: {
      reuseExpired: report.reuse_expired,
      firstPollMs: ms(report.first_poll),
      pollAtMostMs: ms(report.poll_at_most),
      giveUpAfterMs: ms(report.give_up_after),
      format: report.format,
    },
    permissions: file.permissions,
    columns: file.columns as Pipeline['columns'],
    retry: { attempts: retry.attempts, baseMs: ms(retry.base), capMs: ms(retry.cap) },
    breaker: file.breaker,
    deadlineMs: ms(file.deadline),
  };
}

const ms = (value: string | 0): number => parseDuration(String(value));

/** Only what decides which answers a row gets. A higher budget or another speed goes on with the same run. */
function pipelineSha256({
  stages,
  search,
  match,
  freshnessMs,
  provenance,
  idsShared,
  report,
  columns,
}: Pipeline): string {
  const content = {
    stages,
    search,
    match,
    freshnessMs,
    provenance,
    idsShared,
    columns,
    reuseExpired: report.reuseExpired,
  };
  return createHash('sha256').update(canonicalText(content)).digest('hex');
}

/** JSON with sorted keys; JSON itself would write Infinity and null alike. */
function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (part === Infinity) return 'forever';
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

function shortPath(file: string, cwd: string): string {
  const path = relative(cwd, file);
  return path.startsWith('..') || isAbsolute(path) ? file : path;
}
