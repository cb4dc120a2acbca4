import { KybatchError, UsageError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import { didYouMean } from '../util/suggest.js';

/**
 * What refuses a start before anything is spent. `asks`: where a person is asked about the plan, they are asked about
 * this, too; elsewhere, and where it is false, it refuses. A new guard is one entry here, and whoever finds what it is about.
 */
export const GUARDS = {
  rows_lost: { asks: false },
  new_provider: { asks: true },
  new_ledger: { asks: true },
  clock: { asks: false },
} as const satisfies Readonly<Record<string, { readonly asks: boolean }>>;

export type GuardName = keyof typeof GUARDS;

export interface GuardFinding {
  readonly guard: GuardName;
  /** What was found, as a sentence without its end. */
  readonly message: string;
  /** What to do about it, beside letting it pass. */
  readonly hint: string;
}

export interface GuardOptions {
  /** Guards that let this one start pass. */
  readonly accept?: readonly string[] | undefined;
}

type Asking = GuardOptions & { readonly yes?: boolean | undefined; readonly agree?: unknown };

const isGuard = (name: string): name is GuardName => Object.hasOwn(GUARDS, name);

/** Refuses a name that no guard has: who accepts something else than they think is not protected. */
export function mustNameGuards({ accept = [] }: GuardOptions): void {
  const names = Object.keys(GUARDS);
  for (const name of accept)
    if (!isGuard(name))
      throw new UsageError(
        `--accept ${JSON.stringify(name)}: there is no such guard`,
        `${didYouMean(name, names)} Guards: ${names.join(', ')}.`.trim(),
      );
}

export const isAccepted = (guard: GuardName, { accept = [] }: GuardOptions): boolean => accept.includes(guard);

/** Throws what nobody has accepted, and nobody can be asked about; returns what is to be asked about. */
export function mustPass(findings: readonly GuardFinding[], options: Asking): readonly GuardFinding[] {
  const open = findings.filter(({ guard }) => !isAccepted(guard, options));
  const isAsked = options.agree !== undefined && options.yes !== true;
  const refusing = open.find(({ guard }) => !(GUARDS[guard].asks && isAsked));
  if (refusing === undefined) return open;
  const { guard, message, hint } = refusing;
  throw new KybatchError(message, {
    code: guard.toUpperCase(),
    hint: `Nothing was spent. ${hint} To let this one start pass: --accept ${guard}`,
    exit: ExitCode.usage,
  });
}
