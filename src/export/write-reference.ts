import { writeMarked } from '../util/marked-part.js';
import { describeTables, TABLE_REFERENCE } from './tables.js';

/** Updates the reference in docs/tables.md: `npx tsx src/export/write-reference.ts`. */
writeMarked(new URL('../../docs/tables.md', import.meta.url), TABLE_REFERENCE, describeTables());
