import { dialects } from './dialects.js';
import { nameDoubts } from './doubts-names.js';
import { numberDoubts } from './doubts-numbers.js';
import { encodings } from './encodings.js';
import type { CorpusFile } from './file.js';
import { languages } from './languages.js';
import { layouts } from './layouts.js';
import { oddities } from './oddities.js';
import { accountingSystems } from './systems-accounts.js';
import { customerSystems } from './systems-customers.js';
import { characterValues } from './values-characters.js';
import { countryValues } from './values-countries.js';
import { missingValues } from './values-missing.js';
import { numberValues } from './values-numbers.js';
import { workbookCells } from './workbooks-cells.js';
import { workbookMakers } from './workbooks-makers.js';
import { workbookSheets } from './workbooks-sheets.js';

/** All of them, in the order of their names. */
export async function corpusFiles(): Promise<CorpusFile[]> {
  const files = [
    ...encodings(),
    ...dialects(),
    ...(await accountingSystems()),
    ...(await customerSystems()),
    ...languages(),
    ...nameDoubts(),
    ...numberDoubts(),
    ...layouts(),
    ...missingValues(),
    ...countryValues(),
    ...numberValues(),
    ...characterValues(),
    ...(await workbookMakers()),
    ...(await workbookCells()),
    ...(await workbookSheets()),
    ...(await oddities()),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
  const repeated = files.find(({ name }, index) => files[index + 1]?.name === name);
  if (repeated !== undefined) throw new Error(`two files are called ${repeated.name}`);
  return files;
}
