/** What v2 counts under one permission, as `/metrics` tells it (V2-3). */
export interface PermissionUse {
  /** Codename of the permission. */
  readonly permission: string;
  /** Codename of the count: a permission may have several, by day and by plan. */
  readonly metric: string;
  readonly name: string;
  /** Null where the provider did not tell a number. */
  readonly used: number | null;
  readonly total: number | null;
}

/** A total of 0 is not said to mean "nothing": then the provider itself refuses, or does not. */
export const isUsedUp = ({ used, total }: PermissionUse): boolean =>
  used !== null && total !== null && total > 0 && used >= total;
