// v2 operations for credit reports and the watch.

import type { ChangeEntry, ReportEntry } from '../account.js';
import type { Json } from '../json.js';
import { acceptedFields, type ProviderState, permissions } from '../provider-state.js';
import type { Company } from '../registry/types.js';
import {
  date,
  detailFailure,
  integer,
  invalidField,
  list,
  notFound,
  pageOf,
  required,
  type Shape,
  text,
  V2Failure,
  type Values,
} from '../requests.js';
import {
  companyId,
  type Outcome,
  optionalText,
  paging,
  RawReply,
  textOf,
  textsOf,
  type V2Call,
  type V2Operation,
} from './operation.js';

const generateShape: Shape = {
  source_id: required(text()),
  country: required(text({ pattern: /^[A-Z]{2}$/ })),
  format: text({ oneOf: ['json', 'html'] }),
};
const reportId: Shape = { report_id: required(integer({ min: 1 })) };

/** Only generating is charged. Looking, waiting and opening again are free. */
export const creditReport: Readonly<Record<string, V2Operation>> = {
  creditReportSearch: {
    shape: {
      country: required(text({ pattern: /^[A-Z]{2}$/ })),
      company: text(),
      registration_number: text(),
      vat_number: text(),
      province: text(),
      registered_city: text(),
      post_code: text(),
    },
    answer({ world, registry, values }) {
      const location = textOf(values.country);
      if (!registry.knowsLocation(location)) return invalidField('country', 'The country is not in the nomenclature.');
      const query = {
        location,
        name: optionalText(values.company),
        registrationNumber: optionalText(values.registration_number),
        vatNumber: optionalText(values.vat_number),
        cityOrState: [optionalText(values.province), optionalText(values.registered_city)].filter(
          (place) => place !== undefined,
        ),
      };
      if (query.name === undefined && query.registrationNumber === undefined && query.vatNumber === undefined)
        return [];
      const cityOrState = query.cityOrState.length > 0 ? query.cityOrState : undefined;
      const found = registry.search({ ...query, cityOrState }, world.settings.search).filter(registry.hasCreditReport);
      const postCode = optionalText(values.post_code);
      return found
        .filter((company) => postCode === undefined || samePostCode(registry.facts(company).zip, postCode))
        .map((company) => registry.v2.reportHit(company));
    },
  },
  creditReportGenerate: {
    permission: permissions.creditReport,
    shape: generateShape,
    answer(call) {
      const company = subject(call);
      if (company instanceof V2Failure) return company;
      const report = generate(call, company);
      return call.world.settings.generateMs === 0 ? call.world.reports.record(report) : answerLate(call, report);
    },
  },
  creditReportStatus: {
    shape: reportId,
    answer({ world, values }) {
      const report = world.reports.byId(textOf(values.report_id));
      return report ? world.reports.ready(report) : notFound();
    },
  },
  creditReportFetch: {
    shape: reportId,
    answer({ world, values }) {
      const report = world.reports.byId(textOf(values.report_id));
      if (!report) return notFound();
      return world.reports.ready(report)
        ? bodyOf(world, report)
        : detailFailure('notReady', 'The report is not ready yet.');
    },
  },
  creditReportCombined: {
    permission: permissions.creditReport,
    shape: generateShape,
    async answer(call) {
      const company = subject(call);
      if (company instanceof V2Failure) return company;
      const report = generate(call, company);
      call.charge();
      const waitMs = report.readyAt - call.world.settings.clock.now();
      if (waitMs > 0) await call.world.settings.clock.sleep(waitMs, call.world.closing);
      return bodyOf(call.world, report);
    },
  },
  creditReportHistory: {
    shape: { search: text(), ...paging },
    answer({ world, values }) {
      return envelope(world.reports.history(textOf(values.search)), values, (report) => historyItem(world, report));
    },
  },
};

function envelope<T>(items: readonly T[], values: Values, render: (item: T) => Json): Json {
  const { data, total, pages } = pageOf(items, values);
  return { data: data.map(render), total_results: total, pages };
}

const samePostCode = (ours: string | null, wanted: string): boolean => {
  const bare = (code: string) => code.replace(/[\s-]/g, '').toUpperCase();
  return ours !== null && bare(ours) === bare(wanted);
};

function subject({ registry, values }: V2Call): Company | V2Failure {
  const company = registry.bySourceId(textOf(values.source_id));
  if (!company) return invalidField('source_id', 'Unknown source.');
  return company.countryCode === values.country
    ? company
    : invalidField('country', 'The source belongs to another country.');
}

function generate({ world, values }: V2Call, company: Company): ReportEntry {
  return world.reports.generate(company, company.countryCode, values.format === 'html' ? 'html' : 'json');
}

/** The report is generated and charged before the delayed answer. */
async function answerLate(call: V2Call, report: ReportEntry): Promise<Outcome> {
  const { settings, closing, reports } = call.world;
  call.charge();
  await settings.clock.sleep(settings.generateMs, closing);
  return reports.record(report);
}

function bodyOf(world: ProviderState, report: ReportEntry): Outcome {
  const company = world.registry.bySourceId(report.sourceId);
  if (!company) return notFound();
  if (report.format === 'html')
    return new RawReply(200, world.registry.v2.reportHtml(company), { 'Content-Type': 'text/html; charset=utf-8' });
  return new RawReply(
    200,
    world.bodies.write('v2report', company, () => world.registry.v2.reportBody(company)),
  );
}

function historyItem(world: ProviderState, report: ReportEntry) {
  const { registration_number: _number, ...record } = world.reports.record(report);
  return { ...record, url: `${world.v2BaseUrl()}/credit-report/body?id=${report.id}` };
}

const fieldNames = list(text({ oneOf: acceptedFields }));
const isAddress = (value: string) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);

export const watch: Readonly<Record<string, V2Operation>> = {
  watchAdd: {
    permission: permissions.watch,
    shape: { ...companyId, fields: fieldNames },
    answer({ world, registry, values }) {
      const company = registry.byV2Id(textOf(values.id));
      if (!company) return notFound();
      world.watches.add(company.v2Id, values.fields === undefined ? null : textsOf(values.fields));
      return new RawReply(201, '{}');
    },
  },
  watchRemove: {
    shape: companyId,
    answer: ({ world, values }) => (world.watches.remove(textOf(values.id)) ? {} : notFound()),
  },
  watchList: {
    shape: { date: date(), fields: fieldNames, ...paging },
    answer({ world, registry, values }) {
      const wanted = textsOf(values.fields);
      const watched = world.watches
        .list()
        .filter((entry) => values.date === undefined || day(entry.at) === values.date)
        .filter((entry) => wanted.every((field) => world.watches.fieldsOf(entry).includes(field)));
      return envelope(watched, values, (entry) => {
        const company = registry.byV2Id(entry.id);
        return {
          id: entry.id,
          name: company?.name ?? null,
          country_code: company?.countryCode ?? null,
          registration_number: company?.registrationNumber ?? null,
          date: day(entry.at),
          fields: world.watches.fieldsOf(entry),
        };
      });
    },
  },
  watchHistory: {
    shape: { ...companyId, from_date: date(), to_date: date(), fields: fieldNames, ...paging },
    answer({ world, registry, values }) {
      const company = registry.byV2Id(textOf(values.id));
      if (!company) return notFound();
      const changes = world.watches.changes(company.v2Id).filter((change) => inPeriod(change, values));
      return envelope(changes.toReversed(), values, changeRecord);
    },
  },
  watchFields: { shape: {}, answer: ({ world }) => world.watches.fields },
  watchFieldsAdd: {
    shape: { fields: required(fieldNames) },
    answer({ world, values }) {
      world.watches.setFields([...new Set([...world.watches.fields, ...textsOf(values.fields)])]);
      return world.watches.fields;
    },
  },
  watchFieldsRemove: {
    shape: { fields: required(fieldNames) },
    answer({ world, values }) {
      const removed = textsOf(values.fields);
      world.watches.setFields(world.watches.fields.filter((field) => !removed.includes(field)));
      return world.watches.fields;
    },
  },
  watchCallbackSet: {
    shape: { callback: required(text({ test: isAddress, message: 'Must be an http or https address.' })) },
    answer({ world, values }) {
      world.watches.setCallback(textOf(values.callback));
      return { callback: textOf(values.callback) };
    },
  },
  watchCallback: { shape: {}, answer: ({ world }) => ({ callback: world.watches.callback ?? '' }) },
};

function day(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function inPeriod(change: ChangeEntry, values: Values): boolean {
  const when = day(change.at);
  const to = optionalText(values.to_date);
  if (when < textOf(values.from_date) || (to !== undefined && when > to)) return false;
  return values.fields === undefined || textsOf(values.fields).includes(change.field);
}

function changeRecord(change: ChangeEntry) {
  const event = change.field === 'name' ? 'company_name' : change.field;
  return {
    status: 'UPDATED',
    message: `${event} changed from ${change.oldValue ?? 'nothing'} to ${change.newValue ?? 'nothing'}`,
    date_created: new Date(change.at).toISOString(),
    event_type: event,
  };
}
