import { dialects } from './dialects.js';
import { nameDoubts } from './doubts-names.js';
import { numberDoubts } from './doubts-numbers.js';
import { encodings } from './encodings.js';
import type { CorpusFile } from './file.js';
import { languages } from './languages.js';
import { layouts } from './layouts.js';
import { oddities } from './oddities.js';
import { systems } from './systems.js';
import { characterValues } from './values-characters.js';
import { countryValues } from './values-countries.js';
import { missingValues } from './values-missing.js';
import { numberValues } from './values-numbers.js';
import { workbooks } from './workbooks.js';

/** All of them, in the order of their names. */
export async function corpusFiles(): Promise<CorpusFile[]> {
  const files = [
    ...encodings(),
    ...dialects(),
    ...(await systems()),
    ...languages(),
    ...nameDoubts(),
    ...numberDoubts(),
    ...layouts(),
    ...missingValues(),
    ...countryValues(),
    ...numberValues(),
    ...characterValues(),
    ...(await workbooks()),
    ...(await oddities()),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
  const repeated = files.find(({ name }, index) => files[index + 1]?.name === name);
  if (repeated !== undefined) throw new Error(`two files are called ${repeated.name}`);
  return files;
}
