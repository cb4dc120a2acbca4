// Answers that wait for the ledger: one file each, so that a run and a page never wait for each other.

import { randomBytes } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { DecisionEntry, RowRef, StageDependenciesOf } from '../ledger/review/review.js';
import type { ReviewStore } from '../ledger/review/review-store.js';
import { combineWithWaiting, isSamePerson } from '../ledger/review/second-person.js';
import { filesIn, makeFolder, readSmallFile, writeAtomically, writeFlushed } from '../util/files.js';
import { type Message, type MessageCode, message } from '../util/message-parts.js';
import { applySheet, checkSheet, type Refusal } from './apply.js';
import { questionId, questionsNamed } from './questions.js';
import type { SheetLine } from './read-sheet.js';
import { answeredWith, VERDICTS } from './record-answer.js';
import { saidBeforeInWords } from './words.js';

/** A person's answer to one question, as the person saw it. */
const answerShape = z.strictObject({
  kind: z.literal('answer'),
  question: z.string(),
  /** Of the question, and the keys of the candidates that the person saw. */
  basis: z.string(),
  shown: z.array(z.string()),
  decision: z.enum(VERDICTS),
  /** The key of the confirmed candidate, or empty. */
  candidate: z.string(),
  correctedNumber: z.string(),
  note: z.string(),
  by: z.string(),
  at: z.number().int(),
});

/** Withdraws the person's own answer of that time. */
const undoShape = z.strictObject({
  kind: z.literal('undo'),
  question: z.string(),
  given: z.number().int(),
  by: z.string(),
  at: z.number().int(),
});

const entryShape = z.discriminatedUnion('kind', [answerShape, undoShape]);

export type NotedAnswer = z.infer<typeof answerShape>;
export type NotedUndo = z.infer<typeof undoShape>;
export type InboxEntry = NotedAnswer | NotedUndo;

/** An answer that could not be recorded. It is kept until a person has seen it. */
export interface RefusedAnswer {
  readonly file: string;
  readonly entry: InboxEntry | null;
  readonly code: MessageCode;
  readonly problem: string;
}

/**
 * The folder `answers`. A file passes through three names: `.json` while it waits, `.taken` from when the holder of the
 * ledger records it, `.refused` if that failed. Only one process has the ledger, so a `.taken` file that it finds was
 * left by one that died, and is recorded if the ledger does not have it yet.
 */
export class AnswerInbox {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, 'answers');
  }

  /** Resolves when the entry is on disk. Entries are recorded in the order of their times. */
  async put(entry: InboxEntry): Promise<void> {
    makeFolder(this.#folder);
    const name = `${String(entry.at).padStart(15, '0')}-${randomBytes(6).toString('hex')}.json`;
    await writeAtomically(join(this.#folder, name), JSON.stringify(entry));
    await writeFlushed(this.#folder, 'r');
  }

  /** Oldest first. `entry` is undefined if the file cannot be read. */
  waiting(): readonly { readonly file: string; readonly entry: InboxEntry | undefined }[] {
    const names = filesIn(this.#folder).filter((name) => /^\d{15}-[0-9a-f]{12}\.(?:json|taken)$/.test(name));
    // The process that records a file may rename it after the folder was listed. An answer still waits then.
    const namesOf = (file: string) => [file, file.replace(/json$/, 'taken')];
    return names.sort().flatMap((listed) => {
      for (const file of namesOf(listed)) {
        const entry = this.#parse(file, entryShape);
        if (entry !== 'gone') return [{ file, entry }];
      }
      return [];
    });
  }

  /** Deletes an answer that no process has taken yet. False: it is or was recorded. */
  async cancel(given: Pick<NotedAnswer, 'question' | 'by' | 'at'>): Promise<boolean> {
    const found = this.waiting().find(
      ({ file, entry }) =>
        file.endsWith('.json') &&
        entry?.kind === 'answer' &&
        entry.question === given.question &&
        entry.at === given.at &&
        isSamePerson(entry.by, given.by),
    );
    if (found === undefined) return false;
    // A file of another name cannot be recorded, so the process that renames it first decides.
    const ended = found.file.replace(/json$/, 'cancelled');
    if (!this.#rename(found.file, ended)) return false;
    rmSync(join(this.#folder, ended), { force: true });
    return true;
  }

  /** For the process that has the ledger. False: it was cancelled. */
  take(file: string): boolean {
    return file.endsWith('.taken') || this.#rename(file, file.replace(/json$/, 'taken'));
  }

  end(file: string): void {
    rmSync(join(this.#folder, file.replace(/json$/, 'taken')), { force: true });
  }

  async refuse(file: string, refused: Omit<RefusedAnswer, 'file'>): Promise<void> {
    await writeAtomically(join(this.#folder, file.replace(/(?:json|taken)$/, 'refused')), JSON.stringify(refused));
    this.end(file);
  }

  refused(): readonly RefusedAnswer[] {
    return filesIn(this.#folder)
      .filter((name) => name.endsWith('.refused'))
      .sort()
      .flatMap((file) => {
        const found = this.#parse(file, refusedShape);
        return found === undefined || found === 'gone' ? [] : [{ file, ...found, code: found.code as MessageCode }];
      });
  }

  dismiss(file: string): void {
    if (/^[\w-]+\.refused$/.test(file)) rmSync(join(this.#folder, file), { force: true });
  }

  #parse<T>(file: string, shape: z.ZodType<T>): T | undefined | 'gone' {
    try {
      return shape.parse(JSON.parse(readSmallFile(join(this.#folder, file))));
    } catch (error) {
      return (error as { readonly code?: string }).code === 'ENOENT' ? 'gone' : undefined;
    }
  }

  #rename(from: string, to: string): boolean {
    try {
      renameSync(join(this.#folder, from), join(this.#folder, to));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
  }
}

const refusedShape = z.object({ entry: entryShape.nullable(), code: z.string(), problem: z.string() });

export interface RecordedEntries {
  readonly recorded: number;
  readonly refused: readonly RefusedAnswer[];
  readonly released: readonly RowRef[];
}

/** Records all waiting entries in order. The caller has the ledger. Killed at any moment, none is lost or counts twice. */
export async function recordWaiting(
  inbox: AnswerInbox,
  review: ReviewStore,
  groundsOf: StageDependenciesOf,
): Promise<RecordedEntries> {
  const released: RowRef[] = [];
  const refused: RefusedAnswer[] = [];
  let recorded = 0;
  for (const { file, entry } of inbox.waiting()) {
    if (!inbox.take(file)) continue;
    const result =
      entry === undefined
        ? { refusal: message('ANSWER_UNREADABLE', `${file} cannot be read`), released: [] }
        : await recordEntry(entry, review, groundsOf);
    const { refusal } = result;
    released.push(...result.released);
    if (refusal === undefined) {
      inbox.end(file);
      recorded += 1;
    } else {
      const told = { entry: entry ?? null, code: refusal.code, problem: refusal.text };
      await inbox.refuse(file, told);
      refused.push({ file, ...told });
    }
  }
  return { recorded, refused, released };
}

export interface RecordedEntry {
  readonly refusal?: Message | undefined;
  readonly released: readonly RowRef[];
  /** The answer waits for a second person, who may have answered differently. */
  readonly state?: 'in_force' | 'held' | 'disagreement';
}

export async function recordEntry(
  entry: InboxEntry,
  review: ReviewStore,
  groundsOf: StageDependenciesOf,
): Promise<RecordedEntry> {
  const before = await ownDecision(entry, entry.kind === 'answer' ? entry.at : entry.given, review);
  if (entry.kind === 'answer') {
    // Recorded by a process that died before it deleted the file.
    if (before !== undefined) return { released: [] };
    const applied = await applySheet(toLines(entry), review, entry.by, entry.at, true);
    const [refusal] = applied.refused;
    const state = applied.disagreeing > 0 ? 'disagreement' : applied.held > 0 ? 'held' : 'in_force';
    return refusal === undefined
      ? { released: applied.released, state }
      : { released: applied.released, refusal: inWords(refusal) };
  }
  if (before === undefined) return { released: [], refusal: message('UNDO_NOT_FOUND', 'there is no such answer') };
  if (before.decidedAt !== entry.given)
    return { released: [], refusal: message('UNDO_TOO_LATE', 'a second person has agreed with this answer') };
  if (before.withdrawnAt !== null) return { released: [] };
  return { released: (await review.withdraw(before.id, entry.by, entry.at, groundsOf)) ?? [] };
}

/** Why the answer cannot be recorded as the ledger is now. Nothing is written. */
export async function entryProblem(entry: NotedAnswer, review: ReviewStore): Promise<Message | undefined> {
  const { answers, refused } = await checkSheet(toLines(entry), review, entry.by, true);
  if (refused[0] !== undefined) return inWords(refused[0]);
  const isSaid = answers.flat().some(({ question, answer }) => {
    const said = { decision: answer.verdict, candidateId: answeredWith(answer), decidedBy: answer.by };
    return question.needsTwo && combineWithWaiting(said, question.held).kind === 'said_before';
  });
  return isSaid ? message('SAID_BEFORE', saidBeforeInWords(entry.by, '--by'), 'failed') : undefined;
}

/** A page that was open too long is out of date as a whole: it has no lines to move. */
const inWords = ({ code, problem }: Refusal): Message =>
  message(code, code === 'BASIS_DIFFERS' ? OUTDATED : problem, 'failed');

const OUTDATED = 'the question has changed since this page was opened. Look at it again, then answer';

/** The decision that this person made at that time. The time of an answer is that of no other by the same person. */
async function ownDecision(
  { question, by }: Pick<InboxEntry, 'question' | 'by'>,
  at: number,
  review: ReviewStore,
): Promise<DecisionEntry | undefined> {
  const about = await review.decisionsAbout(await questionsNamed(review, [question]));
  return about.find(
    (one) =>
      questionId(one) === question &&
      ((one.decidedAt === at && [one.decidedBy, one.secondBy ?? ''].some((name) => isSamePerson(name, by))) ||
        (one.firstAt === at && isSamePerson(one.decidedBy, by))),
  );
}

/** The answer as the lines of a sheet, one for each candidate that the person saw. The same checks hold. */
function toLines({ question, basis, shown, decision, candidate, correctedNumber, note, by }: NotedAnswer): SheetLine[] {
  const line = { line: 1, question, basis, note, decidedBy: by, hasEarlier: true, told: new Map<never, never>() };
  const blank = { ...line, decision: '', correctedNumber: '', note: '' };
  const others = shown.filter((key) => key !== candidate);
  return [{ ...line, candidate, decision, correctedNumber }, ...others.map((key) => ({ ...blank, candidate: key }))];
}
