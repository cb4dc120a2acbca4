/** A time as JSON has it; null stays null. */
export const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
