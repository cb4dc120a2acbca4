import { createHash } from 'node:crypto';
import { isAbsolute, relative } from 'node:path';
import type { z } from 'zod';
import type { Operation } from '../api/operation.js';
import { valueAt } from '../api/schema.js';
import type { V2OperationName } from '../api/v2/operations.js';
import { UsageError } from '../domain/errors.js';
import { FINITE_DURATION, parseDuration } from '../domain/freshness.js';
import type { MatchPolicy } from '../domain/match-decision.js';
import { inCamelCase } from '../domain/options.js';
import type { Prices } from '../domain/prices.js';
import { type IdSpace, spaceWithSameId } from '../domain/provider.js';
import { type Fallback, fallbackSteps } from '../stages/identity/searches.js';
import { searchesOf } from '../stages/identity/space-search.js';
import { stages } from '../stages/list.js';
import { configureStage, type Stage } from '../stages/stage.js';
import { didYouMean, firstFew, type Message, type MessageCode, message } from '../util/message-parts.js';
import { pick } from '../util/view-json.js';
import {
  DEFAULT_FRESHNESS,
  type Notify,
  type PipelineFile,
  pipelineFile,
  pipelineKeys,
  type SearchKey,
  toNotify,
  toPrices,
  withCurrentKeys,
} from './pipeline-schema.js';
import { findPipeline, readYamlLines } from './user-files.js';

/** A validated pipeline file with all defaults, deeply frozen. */
export interface Pipeline extends Readonly<Pick<PipelineFile, 'concurrency' | 'provenance' | 'breaker' | 'tables'>> {
  readonly description: string;
  /** Names, in the order of `stages/list.ts`. */
  readonly stages: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly search: {
    readonly attempts: number;
    readonly order: readonly SearchKey[];
    readonly furtherSpellings: boolean;
    readonly fallback: readonly Fallback[];
  };
  readonly match: MatchPolicy;
  readonly review: ReviewPolicy;
  /** Read it with `freshnessMs`. */
  readonly freshnessMs: Readonly<Record<string, number>>;
  /** Null: no limit. */
  readonly budget: { readonly units: number | null; readonly creditReports: number | null };
  readonly prices: Prices | null;
  readonly inDoubt: 'resend' | 'park';
  readonly inDoubtCap: number;
  /** Spaces with the same IDs: none, or at least two. */
  readonly idsShared: readonly IdSpace[];
  readonly permissions: Readonly<Record<string, readonly V2OperationName[]>>;
  readonly columns: { readonly [Field in keyof PipelineFile['columns']]?: readonly string[] };
  readonly retry: { readonly attempts: number; readonly baseMs: number; readonly capMs: number };
  readonly guards: Guards;
  /** Names of important changes (domain/change.ts). */
  readonly importantChanges: readonly string[];
  readonly watch: WatchPolicy;
  /** How many folders of tables stay. Null: all. */
  readonly keepExports: number | null;
  /** Lists with more companies have their large tables in parts. Null: none. */
  readonly partsAbove: number | null;
  readonly patienceMs: number;
  readonly deadlineMs: number;
  /** Where metrics are written. Null: nowhere. */
  readonly metrics: { readonly file: string } | null;
  readonly notify: Notify | null;
}

export interface ReviewPolicy {
  /** A confirmation waits until another person confirms the same. */
  readonly secondPerson: boolean;
}

export const ONE_PERSON: ReviewPolicy = { secondPerson: false };

/** In per cent. Null: no such guard. */
export interface Guards {
  readonly failingAlike: number | null;
  readonly rowsLost: number | null;
}

export const NO_GUARDS: Guards = { failingAlike: null, rowsLost: null };

export interface WatchPolicy {
  /** Null: the account's default fields. */
  readonly fields: readonly string[] | null;
  readonly refresh: readonly string[];
  /** How often a company is asked about, unless a callback names it. */
  readonly everyMs: number;
}

export const NO_WATCH: WatchPolicy = { fields: null, refresh: [], everyMs: 0 };

/** Whether an attempt reads changes before it chooses the due rows. */
export const usesWatch = ({ watch: { fields, refresh } }: Pick<Pipeline, 'watch'>): boolean =>
  fields !== null || refresh.length > 0;

export interface LoadedPipeline extends Pipeline {
  readonly name: string;
  readonly file: string;
  /**
   * The digest of what the pipeline buys and how it decides. Comments, limits, concurrency and waiting times do not
   * change it.
   */
  readonly sha256: string;
}

/**
 * Throws a UsageError that lists every problem of the file with key and value. `onNote` gets the keys without effect.
 */
export function loadPipeline(nameOrFile: string, cwd: string, onNote?: (note: Message) => void): LoadedPipeline {
  const { name, file } = findPipeline(nameOrFile, cwd);
  const shownAs = shortPath(file, cwd);
  const yaml = readYamlLines(file, shownAs, { textsUnder: ['prices'] });
  const { content, old, writtenAs } = withCurrentKeys(yaml.content);
  const lineOf = ([first = '', ...rest]: readonly PropertyKey[]) => yaml.lineOf([writtenAs(first), ...rest]);
  const reading = pipelineFile.safeParse(content);
  if (!reading.success) throw invalid(shownAs, describeProblems(reading.error, content), lineOf);
  const pipeline = toPipeline(reading.data);
  const unplanned = pipeline.watch.refresh.filter((stage) => !pipeline.stages.includes(stage));
  if (unplanned.length > 0)
    throw invalid(
      shownAs,
      [{ path: ['watch', 'refresh'], tell: () => `${unplanned.join(', ')} is not among the stages` }],
      lineOf,
    );
  if (old.length > 0)
    onNote?.(message('PIPELINE_KEYS_RENAMED', `${shownAs}: ${old.join(', ')}. The old names still work.`));
  for (const note of unusedOptions(content, pipeline))
    onNote?.(message('PIPELINE_OPTION_UNUSED', `${shownAs}: ${note}`));
  for (const problem of unsearchable(pipeline))
    throw invalid(shownAs, [{ path: ['ids_shared'], tell: () => problem.message }], lineOf, { hint: problem.hint });
  return deepFreeze({ ...pipeline, name, file, sha256: pipelineSha256(pipeline) });
}

/** Options of stages that are not planned: the author may think they are. */
const unusedOptions = (content: unknown, pipeline: Pipeline): readonly string[] =>
  stages.flatMap(({ name, options }) =>
    options === undefined || pipeline.stages.includes(name) || !Object.hasOwn(Object(content), options.key)
      ? []
      : [`${options.key} is not used: ${name} is not among the stages`],
  );

/** Stages whose space has no search and shares no IDs with an earlier one (V2-18). */
function unsearchable(pipeline: Pipeline): readonly { readonly message: string; readonly hint: string }[] {
  const planned = stagesOf(pipeline);
  return planned.flatMap(({ name, space, options }, index) => {
    const before = planned.slice(0, index).map((stage) => stage.space);
    const isKnown = (other: IdSpace) => before.includes(other) && searchesOf(other).length > 0;
    if (searchesOf(space).length > 0 || spaceWithSameId(space, pipeline.idsShared, isKnown) !== undefined) return [];
    const shared = pipeline.idsShared.length === 0 ? 'false' : `[${pipeline.idsShared.join(', ')}]`;
    const message = `must contain ${space} and the ID space of an earlier stage, because ${options?.key ?? name} is set, got ${shared}`;
    const hint = `This stage has its own company IDs, and no search finds them. If your account manager confirms that they are the IDs of v2, set ids_shared: [v2, ${space}] and add a v2 stage. Otherwise remove this setting of ${name}.`;
    return [{ message, hint }];
  });
}

/** The parts of a pipeline that decide what it may ask for: stages, options and fallback. */
export type Wanted = Pick<Pipeline, 'stages'> &
  Partial<Pick<Pipeline, 'options'>> & { readonly search?: Pick<Pipeline['search'], 'fallback'> };

/** The configured stages of a pipeline, in the order of `stages/list.ts`. */
export const stagesOf = ({ stages: names, options = {} }: Wanted): readonly Stage[] =>
  stages.filter(({ name }) => names.includes(name)).map((stage) => configureStage(stage, options[stage.name]));

/** The options of a stage, or its defaults for a run older than them. */
export const optionsOf = ({ options }: Pick<Pipeline, 'options'>, { name, options: declared }: Stage): unknown =>
  options[name] ?? declared?.schema.parse(undefined);

/** Every operation that a pipeline's stages and searches may use. */
export const operationsOf = (pipeline: Wanted): readonly Operation[] => [
  ...stagesOf(pipeline).flatMap(({ space, calls }) => [
    ...searchesOf(space),
    ...calls.map(({ operation }) => operation),
  ]),
  ...fallbackOperations(pipeline),
];

export const usesApi = (pipeline: Wanted, api: Operation['api']): boolean =>
  operationsOf(pipeline).some((operation) => operation.api === api);

export const fallbackOperations = ({ search }: Pick<Wanted, 'search'>): readonly Operation[] =>
  (search?.fallback ?? []).map((name) => fallbackSteps[name].operation);

/**
 * How long an answer of this operation is reused. Infinity: forever; 0: it is always asked again. A run older than the
 * operation uses its default.
 */
export function freshnessMs(pipeline: Pick<Pipeline, 'freshnessMs'>, { name, keep }: Operation): number {
  if (keep === 'never') return 0;
  const said = Object.hasOwn(pipeline.freshnessMs, name) ? pipeline.freshnessMs[name] : undefined;
  return said ?? keep.days * DAY_MS;
}

const DAY_MS = 86_400_000;

function toPipeline(file: PipelineFile): Pipeline {
  const { retry } = file;
  const written: Readonly<Record<string, unknown>> = file;
  return {
    ...pick(file, 'concurrency', 'provenance', 'permissions', 'breaker', 'tables'),
    description: file.description ?? '',
    stages: stages.map(({ name }) => name).filter((name) => file.stages.includes(name)),
    options: Object.fromEntries(
      stages.flatMap(({ name, options }) => (options === undefined ? [] : [[name, written[options.key]]])),
    ),
    search: inCamelCase(file.search),
    match: { ...inCamelCase(file.match), legalForm: file.confirm.legal_form },
    review: inCamelCase(file.review),
    freshnessMs: Object.fromEntries(
      Object.entries({ ...DEFAULT_FRESHNESS, ...file.freshness }).map(([operation, value]) => [
        operation,
        ms(value ?? 0),
      ]),
    ),
    budget: inCamelCase(file.limits),
    prices: file.prices === undefined ? null : toPrices(file.prices),
    inDoubt: file.lost_answers === 'hold' ? 'park' : file.lost_answers,
    inDoubtCap: file.lost_answer_tries,
    idsShared: toShared(file.ids_shared),
    columns: file.columns as Pipeline['columns'],
    retry: { attempts: retry.attempts, baseMs: ms(retry.base), capMs: ms(retry.cap) },
    keepExports: file.export.keep,
    partsAbove: file.export.parts_above,
    guards: inCamelCase(file.guards),
    importantChanges: file.changes.important,
    watch: { fields: file.watch.fields, refresh: file.watch.refresh ?? [], everyMs: ms(file.watch.every) },
    patienceMs: ms(file.patience),
    deadlineMs: ms(file.deadline),
    metrics: file.metrics ?? null,
    notify: file.notify === undefined ? null : toNotify(file.notify),
  };
}

const ms = (value: string | 0): number => parseDuration(String(value));

/** `true` is from when only v1 and v2 could be shared. */
export const toShared = (said: boolean | readonly IdSpace[]): readonly IdSpace[] =>
  typeof said === 'boolean' ? (said ? ['v1', 'v2'] : []) : said;

/** The digested form from before there were lists, so that an unchanged pipeline keeps its digest. */
const digestedShared = (shared: readonly IdSpace[]): boolean | readonly IdSpace[] => {
  const sorted = [...shared].sort();
  return sorted.length === 0 || sorted.join() === 'v1,v2' ? sorted.length > 0 : sorted;
};

/**
 * The digest of only what decides which answers a row gets. A higher limit or another concurrency continues the same
 * run.
 */
export function pipelineSha256(pipeline: Pipeline): string {
  const { provenance, idsShared, columns } = pipeline;
  // The review of legal forms does not change what is bought, so older runs keep their digest.
  const { legalForm: _, ...match } = pipeline.match;
  const { fallback, ...search } = pipeline.search;
  const content = {
    stages: pipeline.stages,
    // Without a fallback the digest is that from before this key existed.
    search: fallback.length === 0 ? search : { ...search, fallback },
    match,
    // Operations that the stages do not use decide nothing.
    freshnessMs: Object.fromEntries(
      operationsOf(pipeline).map((operation) => [operation.name, freshnessMs(pipeline, operation)]),
    ),
    provenance,
    idsShared: digestedShared(idsShared),
    columns,
    options: stagesOf(pipeline).flatMap((stage) => {
      const decisive = decisiveOf(pipeline, stage);
      return decisive === undefined ? [] : [{ [stage.name]: decisive }];
    }),
  };
  return createHash('sha256').update(canonicalText(content)).digest('hex');
}

const decisiveOf = (pipeline: Pipeline, stage: Stage): unknown => stage.options?.decisive(optionsOf(pipeline, stage));

/** The stages of a pipeline with their decisive options, in comparable form. */
export const decisiveOptions = (pipeline: Pipeline): readonly { readonly stage: Stage; readonly words: string }[] =>
  stagesOf(pipeline).map((stage) => ({ stage, words: canonicalText(decisiveOf(pipeline, stage) ?? null) }));

/** JSON with sorted keys. Plain JSON would write Infinity and null alike. */
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

/** The path in messages. */
export function shortPath(file: string, cwd: string): string {
  const path = relative(cwd, file);
  return path.startsWith('..') || isAbsolute(path) ? file : path;
}

/** A problem of a pipeline file. Its words are only made if it is shown. */
export interface Problem {
  readonly path: readonly PropertyKey[];
  readonly tell: () => string;
}

/** The error for a pipeline file: one line for each problem, with its line in the file and its key. */
export function invalid(
  shownAs: string,
  problems: readonly Problem[],
  lineOf: (path: readonly PropertyKey[]) => number | undefined,
  { code = 'PIPELINE_INVALID', hint = 'All keys: docs/reference/pipeline.md' }: Partial<Said> = {},
): UsageError {
  const placed = problems.map((problem) => ({ ...problem, line: lineOf(problem.path) ?? 0 }));
  // Each once: a fraction below the minimum breaks two rules with the same words.
  const told = firstFew(
    placed.toSorted((a, b) => a.line - b.line),
    ({ path, line, tell }) => [line === 0 ? '' : `line ${line}`, keyOf(path), tell()].join('\t'),
    'problems',
  ).map((text) => text.split('\t'));
  const width = (cell: number) =>
    Math.max(...told.map((cells) => (cells.length === 1 ? 0 : (cells[cell] ?? '').length)));
  const lines = told.map(([place = '', key, text]) =>
    key === undefined ? place : `${place.padEnd(width(0))}  ${key.padEnd(width(1))}  ${text}`.trimEnd(),
  );
  const few = told.every((cells) => cells.length > 1) ? told.length : problems.length;
  const head = `${few} ${few === 1 ? 'problem' : 'problems'} in ${shownAs}. Nothing was spent.`;
  return new UsageError(code, [head, ...lines].join('\n'), hint);
}

interface Said {
  readonly code: MessageCode;
  readonly hint: string;
}

const keyOf = (path: readonly PropertyKey[]): string => (path.length === 0 ? '(file)' : path.join('.'));

/** The problems of a pipeline file, or of a part of it. */
export function describeProblems(error: z.core.$ZodError, content: unknown): readonly Problem[] {
  const known = pipelineKeys();
  return error.issues
    .flatMap(ofEntries)
    .flatMap((issue): Problem[] =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => ({ path: [...issue.path, key], tell: () => unknownKey(issue.path, key, known) }))
        : [{ path: issue.path, tell: () => describe(issue, content, known) }],
    );
}

/** If a key takes a list or something else, a wrong list is reported entry by entry. */
function ofEntries(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const [entries] = issue.errors.filter((wrong) => wrong.length > 0 && wrong.every(({ path }) => path.length > 0));
  return entries?.map((wrong) => ({ ...wrong, path: [...issue.path, ...wrong.path] })) ?? [issue];
}

function describe(issue: z.core.$ZodIssue, content: unknown, known: ReturnType<typeof pipelineKeys>): string {
  const key = issue.path.join('.');
  const value = valueAt(content, issue.path);
  if (issue.code === 'invalid_key') return `the key ${issue.issues[0]?.message ?? issue.message}`;
  if (value === undefined && issue.code === 'custom') return `${issue.message} (it has its default)`;
  if (value === undefined) return `is missing: it ${issue.message}`;
  // A webhook address is a password.
  if (key === 'notify.webhook') return `${issue.message} (its value is not shown)`;
  if (issue.code === 'invalid_value' && typeof value === 'string') return notOneOf(value, names(issue.values), key);
  if (issue.code === 'invalid_type' && (issue.expected === 'object' || issue.expected === 'record')) {
    const below = keysBelow(key === '' ? '' : `${key}.`, known);
    return `expected keys${below.length === 0 || key === '' ? '' : `, such as ${below.slice(0, 3).join(', ')}`}, got ${show(value)}`;
  }
  const [, range] = /^must be a duration .*?(?:30d), from (.+)$/.exec(issue.message) ?? [];
  if (range !== undefined && typeof value === 'string' && FINITE_DURATION.test(value))
    return `${show(value)} is out of range: ${range}`;
  return `${issue.message}, got ${show(value)}`;
}

function notOneOf(value: string, allowed: readonly string[], key: string): string {
  const meant = didYouMean(value, allowed);
  const list = allowed.join(', ');
  if (/^stages\b/.test(key)) return `${show(value)} is not a stage.${meant || ` Use: ${list}`}`;
  return `${show(value)} is not allowed.${meant || (list.length > 200 ? '' : ` Use: ${list}`)}`;
}

/** The value of an unknown key is not shown: it may be a credential in the wrong place. */
function unknownKey(path: readonly PropertyKey[], key: string, known: ReturnType<typeof pipelineKeys>): string {
  const prefix = path.map((part) => `${String(part)}.`).join('');
  const operations = known.get(path.join('.'))?.propertyNames?.enum;
  if (operations !== undefined) return `unknown operation.${didYouMean(key, operations)}`;
  const siblings = keysBelow(prefix, known);
  const elsewhere = [...known.keys()].filter((name) => name.endsWith(`.${key}`));
  const hint = didYouMean(key, siblings) || (elsewhere.length === 0 ? '' : ` Did you mean ${elsewhere.join(' or ')}?`);
  return `unknown key.${hint}`;
}

const keysBelow = (prefix: string, known: ReturnType<typeof pipelineKeys>): readonly string[] =>
  [...known.keys()]
    .filter((name) => name.startsWith(prefix) && !name.slice(prefix.length).includes('.'))
    .map((name) => name.slice(prefix.length));

const names = (values: readonly unknown[]): string[] => values.map(String);

function show(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (typeof value === 'object') return 'keys and values';
  if (typeof value !== 'string') return String(value);
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
