import { openAnswer } from '../../src/readers/parts/open-answer.js';
import { extraOf, readFields } from '../../src/readers/parts/read-fields.js';
import type { Reader } from '../../src/readers/reader.js';
import { column, table } from '../../src/readers/table.js';

const fields = [column('number', 'text', 'Number of the licence')] as const;

const licences = table({
  name: 'licences',
  onePer: 'company',
  description: 'Licences that companies hold.',
  source: 'v2 licence',
  key: ['v2_company_id'],
  keyAlwaysThere: true,
  columns: [
    column('v2_company_id', 'id', 'The company', 'the request'),
    ...fields,
    column('extra', 'json', 'Everything else', 'everything else'),
  ],
});

/** The reader file of a made-up module. */
export const licenceReader = {
  name: 'trade-licence',
  space: 'v2',
  operations: ['licence'],
  tables: [licences],
  read({ id, answers }, out) {
    for (const opened of answers.flatMap((answer) => openAnswer(answer, out) ?? [])) {
      const { cells, rest } = readFields(opened.path.object(opened.body) ?? {}, fields, opened.path);
      out.add(licences, { v2_company_id: id, ...cells, extra: extraOf(rest) });
    }
  },
} as const satisfies Reader;
