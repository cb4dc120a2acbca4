import type { StageError, StageOutcome } from './stage.js';

/** It changes nothing about the row, and whoever reads the tables should know. */
export const noteOf = (code: string, message: string): StageError => ({
  class: 'not_available',
  code,
  message,
  requestId: null,
  attempts: 1,
});

/** The provider has nothing here, or nothing that may be used: no failure, and the row goes on (V1-22). */
export const nothingReturned = (code: string, message: string): Extract<StageOutcome, { kind: 'not_available' }> => ({
  kind: 'not_available',
  message,
  error: noteOf(code, message),
});
