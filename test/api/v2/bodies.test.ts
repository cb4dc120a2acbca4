import { describe, expect, test } from 'vitest';
import type { Operation } from '../../../src/api/operation.js';
import { type V2OperationName, v2Operations } from '../../../src/api/v2/operations.js';
import { parseExact } from '../../../src/util/exact-json.js';

const check = (name: V2OperationName, text: string) =>
  (v2Operations[name] as Operation).body.safeParse(parseExact(text)).error?.issues ?? [];

const officer = '{"id":1,"first_name":"A","date_of_birth_year":1970,"address_region":null}';
const employee = '{"id":"1","name":"A","company_id":"2","company_name":"B"}';

const accepted: [rule: string, name: V2OperationName, body: string][] = [
  ['V2-3', 'metrics', '[{"name":"KYB","codename":"kyb","metrics":[{"name":"S","codename":"s","used":1,"total":10}]}]'],
  ['V2-3', 'metrics', '[]'],
  ['V2-3', 'metricsContacts', '{"email_count":1,"phone_count":0}'],
  ['V2-4', 'kybSearch', '[{"id":"12345678901234567890","name":"A","vat_number":null,"surprise":{}},{"id":7}]'],
  // One unusual candidate only spoils itself: see test/engine/odd-answers.test.ts.
  ['V2-4', 'kybSearch', '[{"id":1.5}]'],
  ['V2-9', 'kybOfficers', `{"data":[${officer}],"total_results":1,"total_pages":1}`],
  ['V2-12', 'kybShareholders', '{"data":[{"share_value":"1.10","quantity":1.10}],"total_results":1,"total_pages":1}'],
  ['V2-12', 'prospecting', '{"total_companies":1,"total_pages":1,"data":[{"id":1,"name":"A"}]}'],
  ['V2-12', 'companiesLookup', '{"total_results":0,"total_pages":0,"data":[]}'],
  ['V2-12', 'employeesSearch', `{"total_employees":1,"total_pages":1,"data":[${employee}]}`],
  ['V2-12', 'watchList', '{"data":[{"id":1,"fields":["name"]}],"total_results":1,"pages":1}'],
  ['V2-13', 'watchHistory', '{"data":[{"status":"UPDATED","event_type":"company_name"}],"total_results":1,"pages":1}'],
  ['V2-13', 'watchFields', '["name"]'],
  ['V2-13', 'watchFields', '{"fields":["name"]}'],
  ['V2-13', 'watchCallback', '{"callback":null}'],
  ['V2-8', 'financial', '{}'],
  ['V2-8', 'financial', '{"2023":{"Turnover":1.10,"Currency":"EUR","Never-Heard-Of":true},"2022":null}'],
  [
    'V2-8',
    'kybFinancial',
    '{"years":["2023"],"groups":[{"id":"1","order":1,"list":[{"name":"A","list":{"2023":"1"}}]}]}',
  ],
  ['V2-7', 'creditReportSearch', '[{"id":"S1","vat_number":["1","2"],"address":{"city":"Leeds"}}]'],
  [
    'V2-7',
    'creditReportFetch',
    '{"summary":{"number_of_employees":"12","overall_credit_risk":{"pod":0.1,"creditLimit":{"value":"1.10","currency":"EUR"}}},"other":[1]}',
  ],
  [
    'V2-6',
    'creditReportGenerate',
    '{"id":1,"source_id":"S1","expired":false,"status":"running","date_created":"2024"}',
  ],
  ['V2-2', 'creditReportStatus', 'true'],
  ['V2-2', 'creditReportStatus', 'false'],
  ['V2-12', 'creditReportHistory', '{"data":[{"id":1,"url":null}],"total_results":1,"pages":1}'],
  ['V2-5', 'nomenclature', '[{"id":44,"parents":"1_44","name":"A","has_children":true,"active":true}]'],
  ['V2-13', 'watchAdd', '{"anything":1}'],
  ['V1-22', 'kybOfficers', '{"total_pages":1}'],
];

const refused: [rule: string, name: V2OperationName, body: string][] = [
  ['V2-8', 'financial', '[]'],
  ['V2-8', 'financial', '{"2023":1}'],
  ['V2-8', 'financial', '7'],

  ['V2-4', 'kybSearch', '[{"name":"no ID"}]'],
  ['V2-12', 'kybOfficers', '{"data":{},"total_pages":1}'],
  ['V2-6', 'creditReportGenerate', '{"status":"finish"}'],
];

describe('answers', () => {
  test.each(accepted)('%s %s accepts %s', (_, name, body) => {
    expect(check(name, body)).toEqual([]);
  });

  test.each(refused)('%s %s refuses %s', (_, name, body) => {
    expect(check(name, body)).not.toEqual([]);
  });

  test('V2-8 a group tree of 20,000 levels is accepted', () => {
    const deep = '{"id":1,"children":['.repeat(20_000) + ']}'.repeat(20_000);
    expect(check('ownership', `{"group_structure":[${deep}]}`)).toEqual([]);
  });
});
