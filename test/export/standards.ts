import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defaultModel, Model } from '@alephdata/followthemoney';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

export interface FtmEntity {
  readonly id: string;
  readonly schema: string;
  readonly properties: Readonly<Record<string, readonly string[]>>;
}

const model = new Model(defaultModel);
const countries = Object.keys(defaultModel.types.country?.values ?? {});

/** Values that the types of the model accept, as its tools clean them. */
const VALUES: Readonly<Record<string, (value: string) => boolean>> = {
  country: (value) => countries.includes(value),
  date: (value) => /^\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d:\d\d)?)?)?$/.test(value),
  entity: (value) => /^[0-9a-zA-Z](?:[0-9a-zA-Z.-]*[0-9a-zA-Z])?$/.test(value),
};

/** The problems of a file of FollowTheMoney entities, by the model of `@alephdata/followthemoney`. */
export function ftmProblems(text: string): {
  readonly entities: readonly FtmEntity[];
  readonly problems: readonly string[];
} {
  const entities = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as FtmEntity);
  const byId = new Map(entities.map((entity) => [entity.id, entity]));
  const problems = entities.flatMap(({ id, schema: name, properties, ...rest }) => {
    const schema = model.schemata[name];
    if (schema === undefined || schema.abstract) return [`${id}: no schema ${name}`];
    const isEdge = schema.isEdge;
    const found = [
      ...Object.keys(rest).map((other) => `${id}: has ${other}`),
      ...(VALUES.entity?.(id) ? [] : [`${id} is no ID`]),
      ...(isEdge
        ? schema.required.filter((one) => properties[one] === undefined).map((one) => `${id}: lacks ${one}`)
        : []),
    ];
    for (const [property, values] of Object.entries(properties)) {
      if (!schema.hasProperty(property)) {
        found.push(`${id}: ${name} has no ${property}`);
        continue;
      }
      const declared = schema.getProperty(property);
      const { type, stub } = declared;
      if (stub || values.length === 0) found.push(`${id}: ${property} is not set so`);
      for (const value of values) {
        if (value === '' || VALUES[type.name]?.(value) === false) found.push(`${id}: ${property} is ${value}`);
        if (type.name !== 'entity') continue;
        const other = model.schemata[byId.get(value)?.schema ?? ''];
        if (other === undefined || !other.isA(declared.getRange())) found.push(`${id}: ${property} leads to ${value}`);
      }
    }
    return found;
  });
  return { entities, problems: byId.size === entities.length ? problems : [...problems, 'IDs are not unique'] };
}

/** The files of the standard are beside the checkout. */
const BODS = resolve(import.meta.dirname, '../../../shared/standards/bods');
if (!existsSync(BODS)) console.warn(`${BODS} is missing: statements are not checked against the schemas of BODS`);

export interface BodsStatement {
  readonly statementId: string;
  readonly recordId: string;
  readonly recordType: 'entity' | 'person' | 'relationship';
  readonly recordDetails: Readonly<Record<string, unknown>>;
}

/** The statements of a file, which has to fit the schemas of BODS 0.4. */
export function bodsStatements(text: string): readonly BodsStatement[] {
  const statements = JSON.parse(text) as readonly BodsStatement[];
  if (existsSync(BODS)) {
    const date = /^\d{4}-\d\d-\d\d$/;
    const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
    const ajv = new Ajv2020({ strict: false, formats: { uri: true, date, 'date-time': dateTime } });
    // The validator accepts no URNs of this form.
    for (const file of readdirSync(BODS).filter((name) => name.endsWith('.json')))
      ajv.addSchema(JSON.parse(readFileSync(join(BODS, file), 'utf8').replaceAll('"urn:', '"https://bods/')) as object);
    const validate = ajv.getSchema('https://bods/statement');
    expect(validate?.(statements), JSON.stringify(validate?.errors?.slice(0, 3))).toBe(true);
  }
  const records = new Map(statements.map((one) => [one.recordId, one]));
  expect(new Set(statements.map(({ statementId }) => statementId)).size).toBe(statements.length);
  for (const { recordType, recordDetails } of statements) {
    if (recordType !== 'relationship') continue;
    expect(records.get(String(recordDetails.subject))?.recordType).toBe('entity');
    expect(['entity', 'person']).toContain(records.get(String(recordDetails.interestedParty))?.recordType);
  }
  return statements;
}

/** All interests of all statements. */
export const interestsIn = (statements: readonly BodsStatement[]) =>
  statements.flatMap(
    ({ recordDetails }) => (recordDetails.interests ?? []) as readonly Readonly<Record<string, unknown>>[],
  );
