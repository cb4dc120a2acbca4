import { UsageError } from '../../domain/errors.js';
import type { Io } from './io.js';
import { saysYes } from './says-yes.js';

interface Consent {
  /** What would be done. */
  readonly what: string;
  readonly question: string;
  /** What is said where it is not. */
  readonly nothing: string;
}

/** Before something is done that cannot be undone: `yes` does, else a person is asked, and nobody is taken by surprise. */
export async function agreedTo(
  { what, question, nothing }: Consent,
  yes: boolean,
  io: Pick<Io, 'ask' | 'stderr'>,
): Promise<boolean> {
  if (yes) return true;
  if (io.ask === undefined)
    throw new UsageError(`${what}, and there is no terminal to ask on`, `${nothing} Add --yes to do it.`);
  if (await saysYes(question, io.ask)) return true;
  io.stderr(`${nothing}\n`);
  return false;
}
