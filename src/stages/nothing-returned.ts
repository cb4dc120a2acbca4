import type { StageOutcome } from './stage.js';

/** The provider has nothing here, or nothing that may be used: no failure, and the row goes on (V1-22). */
export const nothingReturned = (code: string, message: string): Extract<StageOutcome, { kind: 'not_available' }> => ({
  kind: 'not_available',
  message,
  error: { class: 'not_available', code, message, requestId: null, attempts: 1 },
});
