import type { IdSpace } from '../../domain/id-spaces.js';
import type { Snapshot } from '../database.js';
import type { UnsoundAnswer } from '../snapshot.js';
import type { GlanceStore } from '../sqlite/glances.js';
import type { StoredPlace } from '../stored-json.js';
import { answerStoodBy } from './answer-stood-by.js';
import type { Bodies } from './bodies.js';
import { type Cell, type Cells, placeOf } from './cells.js';
import { earlierPages } from './earlier-pages.js';
import { withoutStagesToCome } from './stages-to-come.js';

/** What all that read from a snapshot share: what is damaged is noted here, and left out. */
export interface SnapshotStore {
  readonly snapshot: Snapshot;
  readonly bodies: Bodies;
  readonly cells: Cells;
  readonly glances: GlanceStore;
  readonly damaged: UnsoundAnswer[];
  readonly damagedTexts: StoredPlace[];
  readonly standing: ReturnType<typeof standingAnswers>;
}

/** What of the answers about a subject it stands by: prepared once for all that read, each of the tables and spaces. */
export const standingAnswers = (snapshot: Snapshot, bodies: Bodies) => ({
  stoodBy: answerStoodBy(snapshot, bodies),
  begun: withoutStagesToCome(snapshot),
  earlier: earlierPages(snapshot),
});

/** What a text says, or nothing and a note. */
export function soundText<T>(
  { cells, damagedTexts }: SnapshotStore,
  of: Cell<T>,
  text: string,
  key: readonly (string | number)[],
) {
  const value = cells.find(of, text, key);
  if (value === undefined) damagedTexts.push(placeOf(of, key));
  return value;
}

/** The body, or none and a note. */
export async function soundBody(
  { snapshot, bodies, damaged }: SnapshotStore,
  answer: UnsoundAnswer,
): Promise<Buffer | undefined> {
  const body = await snapshot.read(() => bodies.readSound(answer.rawSha256));
  if (body === undefined) damaged.push(answer);
  return body;
}

/** As it lies in the ledger: what is parsed later is text. */
export type Stored<T, Parsed extends keyof T> = Omit<T, Parsed> & Readonly<Record<Parsed, string>>;

export type IdsBySpace = Readonly<Partial<Record<IdSpace, string>>>;
