import { describe, expect, test } from 'vitest';
import { classificationsTable, firmographicsReader, firmographicsTable } from '../../src/readers/firmographics.js';
import { digitalProfilesTable, insightsReader, technologiesTable } from '../../src/readers/insights.js';
import { companyStructuresTable, ownershipReader } from '../../src/readers/ownership.js';
import { prospectRow, readProspectPage } from '../../src/readers/prospects.js';
import { answer, issuesOf, read } from './support.js';

describe('firmographics', () => {
  const profile = (body: string, more = {}) => read(firmographicsReader, [answer('companyProfile', body)], more);

  test('each class has its own row, and the rows can be joined', () => {
    const out = profile(
      '{"id":77,"name":"Acme","size":"11-50","industry":[{"id":1,"type":"nace","value":"Farming"}],"sic":[],"lei":"X"}',
      { ids: { v1: '12345678901234567890', companies: '77' } },
    );
    expect(out.rowsOf(firmographicsTable)[0]).toMatchObject({
      companies_id: '77',
      size: '11-50',
      industry_returned: '1',
      sic_returned: '0',
      v1_company_id: '12345678901234567890',
      v2_company_id: null,
      extra: '{"lei":"X"}',
    });
    expect(out.rowsOf(classificationsTable)).toMatchObject([
      { companies_id: '77', kind: 'industry', position: '1', id: '1', type: 'nace', value: 'Farming', extra: null },
    ]);
    expect(out.issues).toEqual([]);
  });

  test('V1-22 an absent list differs from an empty one', () => {
    const out = profile('{"name":"Acme","sic":null}');
    expect(out.rowsOf(firmographicsTable)[0]).toMatchObject({ industry_returned: null, sic_returned: null });
    expect([...(out.came.get('classifications') ?? [])]).toEqual([]);
  });

  test('phone numbers are contacts, in no column and not in extra unless asked for', () => {
    const body = '{"name":"Acme","company_phone":["+44 20 5550 1234"]}';
    expect(profile(body).rowsOf(firmographicsTable)[0]?.company_phone).toBe('["+44 20 5550 1234"]');
    expect(JSON.stringify([...profile(body, { includeContacts: false }).rows])).not.toContain('5550');
  });

  test('an ID other than the requested one is reported', () => {
    expect(issuesOf(profile('{"id":"78","name":"Acme"}'))).toEqual(['/id: "78"']);
  });
});

describe('digital profiles', () => {
  const profile = (body: string, includeContacts = true) =>
    read(insightsReader, [answer('insightsProfile', body)], { includeContacts });

  test('V1-23 figures are exact as sent, and name servers come as a text or as a list', () => {
    const out = profile(
      '{"domain":"a.example","nameservers":["ns1","ns2"],"engagement_bounce_rate":"0.450","stat_direct_percent":12.10,"global_rank":null}',
    );
    expect(out.rowsOf(digitalProfilesTable)[0]).toMatchObject({
      nameservers: '["ns1","ns2"]',
      engagement_bounce_rate: '0.450',
      stat_direct_percent: '12.10',
      global_rank: null,
      technologies_returned: null,
    });
    expect(profile('{"nameservers":"ns1"}').rowsOf(digitalProfilesTable)[0]?.nameservers).toBe('ns1');
    // A text that looks like a list is distinguished from one.
    expect(profile('{"nameservers":"[1]"}').rowsOf(digitalProfilesTable)[0]).toMatchObject({
      nameservers: '[1]',
      extra: '{"nameservers":"[1]"}',
    });
  });

  test('technologies are numbered through the groups', () => {
    const out = profile(
      '{"technologies":[{"id":1,"name":"Hosting","list":[{"id":10,"name":"CDN","category":"Edge"},{"id":11,"name":"DNS","version":2}]},{"id":2,"name":"Ads","list":[]},{"id":3,"name":"Shop","list":[{"id":12,"name":"Cart"}],"since":2020}]}',
    );
    expect(out.rowsOf(technologiesTable)).toMatchObject([
      { insights_id: '77', position: '1', group_id: '1', group_name: 'Hosting', id: '10', category: 'Edge' },
      { position: '2', group_id: '1', id: '11', extra: '{"version":2}' },
      { position: '3', group_id: '3', group_name: 'Shop', id: '12' },
    ]);
    const [line] = out.rowsOf(digitalProfilesTable);
    expect(line?.technologies_returned).toBe('3');
    // A group without a row, and fields of a group that its rows do not show.
    expect(line?.extra).toBe('{"technologies":[{"id":2,"name":"Ads","list":[]},{"id":3,"name":"Shop","since":2020}]}');
  });

  test('all registrar contacts are contacts', () => {
    const body =
      '{"domain":"a.example","registrar":{"name":"Registrar Ltd","abuse_email":"x@y.example"},"registrar_contacts":[{"name":"Jane","value":"+1 555"}],"admin_contact":"Joe"}';
    expect(profile(body).rowsOf(digitalProfilesTable)[0]?.extra).toContain('Jane');
    expect(profile(body, false).rowsOf(digitalProfilesTable)[0]?.extra).toBe('{"registrar":{"name":"Registrar Ltd"}}');
  });
});

describe('the ownership module', () => {
  const told = (body: string) => {
    const out = read(ownershipReader, [answer('ownership', body)], { ids: { v1: '1', v2: '2' } });
    expect(out.issues).toEqual([]);
    return out.rowsOf(companyStructuresTable)[0];
  };

  test('V1-22 empty lists are counted and are no error, and absent ones are neither', () => {
    expect(told('{"shareholders":[],"group_structure":[]}')).toMatchObject({
      shareholders_returned: '0',
      group_links_returned: '0',
    });
    expect(told('{"shareholders":null}')).toMatchObject({ shareholders_returned: null, group_links_returned: null });
  });

  test('V1-29 fields without a column are in `extra`', () => {
    const line = told('{"registration_number":"77","lei":"X","shareholders":[{"name":"H"}]}');
    expect(line).toMatchObject({ registration_number: '77', shareholders_returned: '1', extra: '{"lei":"X"}' });
  });
});

describe('prospects', () => {
  const page =
    '{"total_companies":1,"total_pages":1,"took":7,"data":[{"id":9,"name":"Acme","score":1.10},{"name":"B"}]}';
  const classes = '[{"id":1,"type":"nace","value":"Farming"}]';
  const profile = (name: string) =>
    `{"id":"9","name":"${name}","company_phone":["+44 1"],"industry":${classes},"sic":[],"lei":"X","note":"a@b.example.com"}`;
  const rowOf = (name: string, includeContacts: boolean) => {
    const { prospects, unnamed } = readProspectPage(answer('prospecting', page), 1, includeContacts);
    expect([prospects.length, unnamed]).toEqual([1, 1]);
    const seen = answer('companyProfile', profile(name));
    return prospects.map((one) => prospectRow(one, 1, seen, { isPart: false, includeContacts }))[0];
  };

  test('V1-29 every field of the profile and of the page has a column or is in `extra`', () => {
    const row = rowOf('Acme', true);
    expect(row).toMatchObject({ industry: classes, sic: '[]', company_phone: '["+44 1"]' });
    const companyProfile = '{"lei":"X","note":"a@b.example.com"}';
    expect(row?.extra).toBe(`{"score":1.10,"page":{"took":7},"companyProfile":${companyProfile}}`);
  });

  test('contacts are in no cell unless they are asked for', () => {
    expect(rowOf('Acme', false)).toMatchObject({ industry: classes, company_phone: null });
    expect(JSON.stringify(rowOf('Acme', false))).not.toMatch(/\+44|a@b/);
  });

  test('V2-18 nothing of a profile with another name is used', () => {
    expect(rowOf('Somebody Else', true)).toMatchObject({ profile: 'other_name', industry: null, company_phone: null });
    expect(rowOf('Somebody Else', true)?.extra).toBe('{"score":1.10,"page":{"took":7}}');
  });
});
