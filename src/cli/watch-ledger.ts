import type { Checkpoint, Ledger, Settlement } from '../ledger/ledger.js';

export interface LedgerWatch {
  readonly onSettled: (settlement: Settlement) => void;
  readonly onCheckpoint: (row: number, checkpoint: Checkpoint) => void;
  readonly onLostIntents: (count: number) => void;
}

/** The same ledger, with somebody looking on: told only of what is on disk. */
export function watchLedger(ledger: Ledger, watch: LedgerWatch): Ledger {
  return {
    ...ledger,
    async settle(intent, settlement) {
      const settled = await ledger.settle(intent, settlement);
      if (settled) watch.onSettled(settlement);
      return settled;
    },
    async checkpoint(runId, row, checkpoint) {
      await ledger.checkpoint(runId, row, checkpoint);
      watch.onCheckpoint(row, checkpoint);
    },
    async flagLostIntents(now) {
      const lost = await ledger.flagLostIntents(now);
      if (lost > 0) watch.onLostIntents(lost);
      return lost;
    },
  };
}
