import type { ChangeEntry } from '../journal.js';
import { date, list, required, text, type Values } from '../validate.js';
import { notFound } from './errors.js';
import { companyId, optionalText, Plain, pageOf, paging, textOf, textsOf, type V2Operation } from './operation.js';
import { permissions } from './permissions.js';
import { acceptedFields } from './watches.js';

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
      return new Plain(201, '{}');
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
      const items = world.watches
        .list()
        .filter((entry) => values.date === undefined || day(entry.at) === values.date)
        .filter((entry) => wanted.every((field) => world.watches.fieldsOf(entry).includes(field)))
        .map((entry) => {
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
      const page = pageOf(items, values);
      return { data: page.data, total_results: page.total, pages: page.pages };
    },
  },
  watchHistory: {
    shape: { ...companyId, from_date: date(), to_date: date(), fields: fieldNames, ...paging },
    answer({ world, registry, values }) {
      const company = registry.byV2Id(textOf(values.id));
      if (!company) return notFound();
      const changes = world.watches.changes(company.v2Id).filter((change) => inPeriod(change, values));
      const page = pageOf(changes.toReversed(), values);
      return { data: page.data.map(changeRecord), total_results: page.total, pages: page.pages };
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
