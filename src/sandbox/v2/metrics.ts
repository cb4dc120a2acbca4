import { isDate, required, text } from '../validate.js';
import { textOf, type V2Operation } from './operation.js';

const moment = text({
  test: (value) => /^\d{4}-\d{2}-\d{2} (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(value) && isDate(value.slice(0, 10)),
  message: 'Must be a datetime of the form YYYY-MM-DD hh:mm:ss.',
});

export const metrics: Readonly<Record<string, V2Operation>> = {
  metrics: { shape: {}, answer: ({ world }) => world.permissions.metrics() },
  metricsContacts: {
    shape: { date_from: required(moment), date_to: required(moment) },
    answer: ({ world, values }) =>
      world.contacts.between(utc(textOf(values.date_from)), utc(textOf(values.date_to)) + 999),
  },
};

const utc = (text: string): number => Date.parse(`${text.replace(' ', 'T')}Z`);
