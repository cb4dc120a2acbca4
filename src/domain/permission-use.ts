/** What v2 counts under one permission, as `/metrics` tells it (V2-3). */
export interface PermissionUse {
  /** Codename of the permission. */
  readonly permission: string;
  /** Null where it has none. */
  readonly permissionName: string | null;
  /** Codename of the count: a permission may have several, by day and by plan. */
  readonly metric: string;
  /** Of the count. */
  readonly name: string;
  /** Null where the provider did not tell a number. */
  readonly used: number | null;
  readonly total: number | null;
  /** What else it said, as JSON; null where it said no more. */
  readonly extra: string | null;
}

type Counted = Pick<PermissionUse, 'used' | 'total'>;

/** A total of 0 is not said to mean "nothing": then the provider itself refuses, or does not. */
export const isUsedUp = ({ used, total }: Counted): boolean =>
  used !== null && total !== null && total > 0 && used >= total;

/** Null where it cannot be told; the same total of 0 tells nothing. */
export const leftOf = ({ used, total }: Counted): number | null =>
  used === null || used < 0 || total === null || total <= 0 ? null : Math.max(0, total - used);

/** One permission's counts together, in the order in which they came. */
export function byPermission<T extends PermissionUse>(use: readonly T[]): readonly (readonly [string, readonly T[]])[] {
  const found = new Map<string, T[]>();
  for (const count of use) found.set(count.permission, [...(found.get(count.permission) ?? []), count]);
  return [...found];
}
