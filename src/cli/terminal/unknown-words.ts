import { count } from './text.js';

/** Said beside a total of units: what was lost may have been charged, so that the provider's total may be larger. */
export const unknownInWords = (unknownCalls: number, place = ''): string =>
  unknownCalls === 0
    ? ''
    : `, and ${count(unknownCalls, 'call')} whose charge is unknown (\`kybatch doubt${place}\` lists ${unknownCalls === 1 ? 'it' : 'them'})`;
