import { column, table } from '../table.js';
import { operation, rawSha256, v1CompanyId, v2CompanyId, value, valueType } from './columns.js';

export const filedFinancialsTable = table({
  name: 'filed_financials',
  onePer: 'value',
  description:
    'Filed statements: one value for each metric and reporting period. Of v1 one reading is shown, be it from the full record or from the statements by themselves.',
  source: 'fullKyb /financial; financialKyb; v2 kybFinancial',
  key: ['v1_company_id', 'v2_company_id', 'operation', 'group_position', 'metric_position', 'period'],
  keyAlwaysThere: false,
  knownBy: {
    columns: [
      ['group_id', 'metric', 'period'],
      ['group_name', 'metric', 'period'],
    ],
    origin: 'operation',
    // Display, and what follows from the values themselves, once more in each line of the metric.
    besides: ['group_order', 'group_position', 'metric_position', 'progress'],
    news: 'period',
  },
  columns: [
    v1CompanyId,
    column('group_id', 'id', 'The statement group', 'groups[].id'),
    column('group_name', 'text', 'Its name', 'groups[].name'),
    column('group_order', 'integer', 'Its place on display', 'groups[].order'),
    column('metric', 'text', 'Label of the metric; varies with the filing regime', 'groups[].list[].name'),
    column('period', 'text', 'Date of the reporting period, as sent', 'key of groups[].list[].list'),
    value,
    valueType,
    v2CompanyId,
    operation,
    column('group_position', 'integer', 'Place of the group in the list, from 1', 'order of the list'),
    column('metric_position', 'integer', 'Place of the metric in its group, from 1', 'order of the list'),
    column(
      'progress',
      'json',
      'Comparison with earlier periods, as sent, for the whole metric',
      'groups[].list[].progress',
    ),
    rawSha256,
    column('extra', 'json', 'Further fields of the group and of the metric', 'everything else'),
  ],
});
