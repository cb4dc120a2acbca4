import { KybatchError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import type { Ledger } from '../../ledger/ledger.js';
import { hasLedger } from '../../ledger/open-ledger.js';
import type { RefusedStart } from '../../ledger/portfolios.js';
import { outsideText } from '../../util/outside-text.js';
import { redact } from '../../util/secret.js';
import { ledgerOf, type PlaceOptions, type Surroundings, withLedger } from '../surroundings.js';

/**
 * A start that is refused before it has begun (its file is gone, or has lost its rows) leaves no trace in the books. It is
 * noted with its list, so that `status --check` tells of it; the next start that gets through takes the note away.
 * `tell`: done with the ledger once it is noted.
 */
export async function notingRefusal<T>(
  list: string,
  options: PlaceOptions & { readonly agree?: unknown },
  around: Surroundings,
  work: (begins: () => void) => Promise<T>,
  tell: (ledger: Ledger) => Promise<void>,
): Promise<T> {
  let hasBegun = false;
  try {
    return await work(() => {
      hasBegun = true;
    });
  } catch (error) {
    // Who is asked has seen it.
    if (!hasBegun && options.agree === undefined && isRefusal(error)) await note(list, error, options, around, tell);
    throw error;
  }
}

/** Another start is at work, or somebody said no: that is no trouble of the list. */
const isRefusal = (error: unknown): boolean =>
  !(error instanceof KybatchError) || (error.exit !== ExitCode.locked && error.exit !== ExitCode.interrupted);

/** Where it cannot be written the ledger itself is in trouble, which is told by whoever looks at it. */
async function note(
  list: string,
  error: unknown,
  place: PlaceOptions,
  around: Surroundings,
  tell: (ledger: Ledger) => Promise<void>,
): Promise<void> {
  try {
    if (!(await hasLedger(ledgerOf(place, around)))) return;
    await withLedger('existing', place, { ...around, onNote: undefined }, async (ledger) => {
      await ledger.portfolios.noteRefusal(list, refusalOf(error), around.clock.now());
      await tell(ledger);
    });
  } catch (failure) {
    if (!(failure instanceof KybatchError)) throw failure;
  }
}

const LONGEST = 1000;

/** With its hint: whoever reads the note has not seen what the start has printed. */
function refusalOf(error: unknown): Omit<RefusedStart, 'at'> {
  const { code, exit, hint } =
    error instanceof KybatchError ? error : { code: 'INTERNAL', exit: ExitCode.internal, hint: undefined };
  const message = error instanceof Error ? error.message : String(error);
  const told = redact(outsideText(hint === undefined ? message : `${message.replace(/\.$/, '')}. ${hint}`));
  return { code, exit, message: told.slice(0, LONGEST) };
}
