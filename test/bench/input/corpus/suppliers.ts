import { column } from './file.js';
import { mixed } from './firms.js';
import { courtAndNumber } from './german.js';
import { page, type StoredCell } from './page.js';

const { name, country, number, city, id } = column;

/** A cell that holds a number. */
export const storedNumber = (shown: string, text: string, format?: number, formula?: string): StoredCell => ({
  kind: 'number',
  shown,
  stored: text,
  ...(format === undefined ? {} : { format }),
  ...(formula === undefined ? {} : { formula }),
});
/** The columns of a plain list of suppliers. */
export const supplierColumns = () => [
  id('Vendor no.', (i) => storedNumber(String(200_100 + i), String(200_100 + i))),
  name('Vendor name'),
  country('Country'),
  number('Registration no.', courtAndNumber),
  city('City'),
];
/** Twelve of them in three countries. */
export const suppliers = () => page(mixed(['DE', 'GB', 'FR'], 4), supplierColumns());
