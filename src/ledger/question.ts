import type { IdSpace } from '../domain/id-spaces.js';

/** What a question is about: which company is meant in a space, or whether a stage's answer is about it. */
export interface QuestionTopic {
  readonly space: IdSpace;
  /** Null: which company is meant. */
  readonly stage: string | null;
}

/** What a row asked; it replaces what the row asked on the same topic before. An open question is the row's only one. */
export interface NewQuestion extends QuestionTopic {
  readonly environmentId: number;
  readonly entityKey: string;
  /** The only candidate that can be confirmed, where the question is about one. */
  readonly candidateId: string | null;
  readonly code: string;
  readonly message: string;
  /** False: the row ended with it. True: a remembered decision let the row go on. */
  readonly answered: boolean;
  readonly askedAt: number;
}
