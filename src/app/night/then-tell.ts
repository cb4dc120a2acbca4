import { basename } from 'node:path';
import type { Notify } from '../../config/notify-schema.js';
import { openLog } from '../../util/logger.js';
import { outsideText } from '../../util/outside-text.js';
import type { RunEndView } from '../run-end.js';
import type { SpendingOptions } from '../spending.js';
import type { Surroundings } from '../surroundings.js';
import { type Delivery, deliver } from './deliver.js';
import { type Ended, reasonsOf, summaryText } from './summary.js';

/** Who is to be told, and of what; said as soon as it is known. */
export interface ToBeTold {
  readonly notify: Notify | null;
  readonly input: string | null;
}

/**
 * Does the work, then tells whom the pipeline names how it ended. By then the ledger is closed: whoever is told may look
 * into it. What comes of the telling changes nothing about the end.
 */
export async function thenTell(
  options: SpendingOptions,
  around: Surroundings,
  work: (toBeTold: (whom: ToBeTold) => void) => Promise<RunEndView>,
): Promise<RunEndView> {
  let whom: ToBeTold = { notify: null, input: null };
  const toBeTold = (known: ToBeTold) => {
    whom = known;
  };
  const ended = await work(toBeTold).then(
    (end): Ended => ({ end }),
    (error: unknown): Ended => ({ error }),
  );
  await tell(whom, ended, options, around);
  if ('error' in ended) throw ended.error;
  return ended.end;
}

async function tell(
  { notify, input }: ToBeTold,
  ended: Ended,
  { said, abort }: SpendingOptions,
  around: Surroundings,
): Promise<void> {
  if (notify === null) return;
  const reasons = reasonsOf(ended, said).filter((reason) => notify.on.includes(reason));
  if (reasons.length === 0) return;
  const summary = summaryText(ended, reasons, input, around.clock.now(), said);
  const delivery = await deliver(notify.to, summary, around, abort ?? new AbortController().signal);
  if ('end' in ended && ended.end.log !== null) noteInLog(ended.end.log, notify, delivery, around);
  if (!delivery.delivered)
    around.onNote?.(
      `notify: ${shown(notify)} could not be told how this start ended: ${outsideText(delivery.why)} (tried ${delivery.tries === 1 ? 'once' : `${delivery.tries} times`})`,
    );
}

/** The address is a password, and so may arguments be. */
const shown = ({ to }: Notify): string => (to.kind === 'command' ? basename(to.argv[0]) : to.origin);

function noteInLog(path: string, { to }: Notify, { delivered, tries }: Delivery, { clock }: Surroundings): void {
  const log = openLog({ path, clock, secrets: [] });
  if (delivered) log.info('notified', { to: to.kind, tries });
  else log.warn('notify_failed', { to: to.kind, tries });
  log.close();
}
