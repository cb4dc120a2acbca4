import type { Firm } from './firms.js';

/** A German number names a company together with its court; others stand for themselves. */
export const courtAndNumber = ({ court, number }: Firm): string =>
  court === undefined ? number : `${court} ${number}`;

/** The court without the word before it, as lists have it in a column of its own. */
export const courtAlone = ({ court }: Firm): string => (court ?? '').replace(/^Amtsgericht /, '');
