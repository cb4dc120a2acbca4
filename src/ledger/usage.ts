import type { ContactCounts } from '../domain/contact-counts.js';
import type { UseSince } from '../domain/permission-drift.js';
import type { PermissionUse } from '../domain/permission-use.js';
import type { AllowanceRecord } from './calls.js';
import type { CountsCompared } from './counts-compared.js';

export interface UnknownCharge {
  readonly id: number;
  readonly api: string;
  readonly environment: string;
  readonly operation: string;
  readonly runId: string | null;
  readonly row: number | null;
  /** Where that stands in its file. */
  readonly line: number | null;
  readonly startedAt: number;
  readonly errorCode: string | null;
}

/** What v2 counts, as it last said. */
export interface ToldByV2 {
  readonly permissions: readonly PermissionUsage[];
  readonly contacts: readonly ContactUsage[];
}

export interface Allowances extends ToldByV2 {
  readonly environments: readonly EnvironmentUsage[];
}

export interface UsageReport extends Allowances {
  /** Calls that are under way, or were when a process died: the next start says which. */
  readonly underWay: number;
  readonly byDay: readonly UsageLine[];
  readonly byOperation: readonly UsageLine[];
  readonly byRun: readonly UsageLine[];
}

export interface PermissionUsage extends PermissionUse, UseSince {
  readonly environment: string;
  /** What draws on it, as the pipeline of the last start said; null where it did not. */
  readonly operations: readonly string[] | null;
  readonly observedAt: number;
}

export interface ContactUsage extends ContactCounts {
  readonly environment: string;
  readonly observedAt: number;
}

export interface EnvironmentUsage extends Omit<AllowanceRecord, 'observedAt'> {
  readonly api: string;
  readonly name: string;
  /** Null: the provider has not told its allowance yet. */
  readonly observedAt: number | null;
  readonly unknownCalls: number;
  /** Why nobody can say whether the two counts agree now; `driftUnits` is then what was found before. */
  readonly notCompared: CountsCompared['notCompared'];
  readonly waitsFor: CountsCompared['waitsFor'];
  /** The part of `driftUnits` that the next answer is still to settle. */
  readonly driftSinceAnchor: number;
}

/** What a provider has counted of late and we have not, beyond the calls whose charge is unknown. */
export interface Drift {
  readonly api: string;
  readonly environment: string;
  /** What v2 counts by; null: units. */
  readonly permission: string | null;
  readonly units: number;
}

export interface UsageLine {
  readonly key: string;
  readonly api: string;
  readonly calls: number;
  readonly owned: number;
  readonly unitsCharged: number;
  readonly unknown: number;
}
