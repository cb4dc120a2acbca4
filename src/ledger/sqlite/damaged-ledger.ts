import { LedgerError } from '../../domain/errors.js';

/** The file itself is damaged: found before anything is sent, and nothing is touched. */
export class DamagedLedger extends LedgerError {
  override readonly name = 'DamagedLedger';

  constructor(
    path: string,
    readonly what: string,
    readonly wayOut: string,
  ) {
    super(undefined, path, {
      message: `cannot use the ledger ${path}: the database is damaged (${what})`,
      code: 'LEDGER_DAMAGED',
      hint: `Nothing was sent, nothing was spent. ${wayOut}`,
    });
  }
}
