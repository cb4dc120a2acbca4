// The ownership graph in two standards of other tools: FollowTheMoney and BODS. docs/reference/graph.md shows the mapping.

import { createHash, hash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isIsoCountry, isoAlias, isoCountries } from '../../domain/places/location-codes.js';
import { ID_SPACES, idSpaces } from '../../domain/provider.js';
import type { Row } from '../../readers/table.js';
import { ExactNumber, plainDecimal, stringifyExact } from '../../util/exact-json.js';
import type { ExportOptions, FileFacts, Format, TableFile } from './format.js';

/** A table row as an object of the standard. Undefined if the standard has no place for it. */
type Mapping = Readonly<Record<string, (row: Row) => object | undefined>>;

interface GraphShape {
  readonly name: 'ftm' | 'bods';
  readonly title: string;
  readonly mediatype: string;
  readonly texts: readonly [begin: string, between: string, end: string];
  readonly mapping: (options: ExportOptions) => Mapping;
}

/** Both tables go to one file, nodes first. */
const graphFormat = ({ name, title, mediatype, texts, mapping }: GraphShape): Format => ({
  name,
  only: ['entities', 'relations'],
  async open({ folder, options }) {
    const toObject = mapping(options);
    const tables: string[] = [];
    let file: ObjectFile | undefined;
    return {
      versions: {},
      table(table): TableFile {
        tables.push(table);
        file ??= new ObjectFile(join(folder, `graph.${name}.json`), texts);
        const shared = file;
        return {
          write: (rows) => shared.write(rows.flatMap((row) => toObject[table]?.(row) ?? [])),
          finish: async () => (table === tables.at(-1) ? [shared.finish()] : []),
        };
      },
      close: () => file?.close(),
    };
  },
  resource: () => ({
    name: `graph-${name}`,
    properties: { title, description: `The tables entities and relations as ${title}.`, format: 'json', mediatype },
  }),
});

class ObjectFile {
  readonly #hash = createHash('sha256');
  #descriptor: number | undefined;
  #waiting = '';
  #bytes = 0;
  #count = 0;

  constructor(
    readonly path: string,
    readonly texts: GraphShape['texts'],
  ) {
    this.#descriptor = openSync(path, 'wx', 0o600);
    this.#waiting = texts[0];
  }

  write(objects: readonly object[]): void {
    for (const object of objects) {
      this.#waiting += `${this.#count === 0 ? '' : this.texts[1]}${stringifyExact(object)}`;
      this.#count += 1;
      if (this.#waiting.length >= CHARACTERS_AT_ONCE) this.#flush();
    }
  }

  finish(): FileFacts {
    this.#waiting += this.texts[2];
    this.#flush();
    if (this.#descriptor !== undefined) fsyncSync(this.#descriptor);
    this.close();
    return { path: this.path, rows: this.#count, bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #flush(): void {
    const bytes = Buffer.from(this.#waiting);
    this.#waiting = '';
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor as number, bytes, at);
  }
}

const CHARACTERS_AT_ONCE = 1 << 16;

const digestOf = (...texts: readonly (string | null | undefined)[]): string =>
  hash('sha256', JSON.stringify(texts.map((text) => text ?? null)), 'hex');

const relationDigest = ({ from_key, to_key, kind, operation, position }: Row): string =>
  digestOf(from_key, to_key, kind, operation, position);

function countryOf({ country_code }: Row): string | undefined {
  const code = country_code?.trim().toUpperCase() ?? '';
  const country = isoAlias(code) ?? code;
  return isIsoCountry(country) ? country : undefined;
}

/** Year and month as far as both standards take them. */
function birthDate({ birth_year: year, birth_month: month }: Row): string | undefined {
  if (!/^\d{4}$/.test(year ?? '')) return undefined;
  const number = Number(month ?? 0);
  return number >= 1 && number <= 12 ? `${year}-${String(number).padStart(2, '0')}` : (year ?? undefined);
}

type Values = Readonly<Record<string, string | null | undefined>>;

const present = (values: Values): readonly (readonly [string, string])[] =>
  Object.entries(values).flatMap(([name, value]) =>
    value === undefined || value === null || value === '' ? [] : [[name, value] as const],
  );

/** One entity on each line, as Aleph, yente and the tools of OpenSanctions read them. */
export const ftm = graphFormat({
  name: 'ftm',
  title: 'FollowTheMoney entities',
  mediatype: 'application/x-ndjson',
  texts: ['', '\n', '\n'],
  mapping: () => ({ entities: ftmNode, relations: ftmEdge }),
});

/** Its tools drop references to IDs of another form. */
const FTM_ID = /^[0-9a-zA-Z](?:[0-9a-zA-Z.-]*[0-9a-zA-Z])?$/;

const ftmId = (key: string | null | undefined): string =>
  FTM_ID.test(key ?? '') ? (key as string) : `kybatch-${digestOf(key).slice(0, 40)}`;

const ftmEntity = (id: string, schema: string, values: Values) => ({
  id,
  schema,
  properties: Object.fromEntries(present(values).map(([name, value]) => [name, [value]])),
});

function ftmNode(row: Row): object {
  const { name, kind } = row;
  const id = ftmId(row.entity_key);
  if (kind === 'person') return ftmEntity(id, 'Person', { name, birthDate: birthDate(row) });
  if (kind !== 'company') return ftmEntity(id, 'LegalEntity', { name });
  const jurisdiction = countryOf(row)?.toLowerCase();
  return ftmEntity(id, 'Company', { name, jurisdiction, registrationNumber: row.registration_number });
}

function ftmEdge(row: Row): object {
  const id = `kybatch-${relationDigest(row).slice(0, 40)}`;
  const [from, to] = [ftmId(row.from_key), ftmId(row.to_key)];
  const told = {
    status: row.status,
    startDate: row.start_date,
    endDate: row.end_date,
    recordId: row.raw_sha256,
    summary: row.operation,
    retrievedAt: row.fetched_at?.slice(0, 19),
  };
  switch (row.kind) {
    case 'shareholding': {
      const shares = { percentage: row.percentage, sharesCount: row.quantity, sharesType: row.share_type };
      return ftmEntity(id, 'Ownership', { owner: from, asset: to, ...shares, ...told });
    }
    case 'directorship':
      return ftmEntity(id, 'Directorship', { director: from, organization: to, role: row.role, ...told });
    default:
      return ftmEntity(id, 'UnknownLink', { subject: from, object: to, role: 'group link', ...told });
  }
}

/** Statements of the Beneficial Ownership Data Standard 0.4, as a JSON list. */
export const bods = graphFormat({
  name: 'bods',
  title: 'BODS 0.4 statements',
  mediatype: 'application/json',
  texts: ['[\n', ',\n', '\n]\n'],
  mapping: ({ now, version }) => {
    const day = new Date(now).toISOString().slice(0, 10);
    const publicationDetails = {
      publicationDate: day,
      bodsVersion: '0.4',
      publisher: { name: `kybatch ${version}` },
    };
    const statement = (said: Said) => ({
      statementId: digestOf(said.recordId, said.statementDate, stringifyExact(said.recordDetails)),
      ...said,
      recordStatus: 'new',
      publicationDetails,
    });
    return {
      entities: (row) => statement(bodsNode(row, day)),
      relations: (row) => (row.kind === 'group_link' ? undefined : statement(bodsEdge(row, day))),
    };
  },
});

interface Said {
  readonly statementDate: string;
  readonly recordId: string;
  readonly recordType: 'entity' | 'person' | 'relationship';
  /** The company whose lists the record is from. */
  readonly declarationSubject: string;
  readonly recordDetails: object;
  readonly source: object;
  readonly annotations?: readonly object[];
}

/** What is behind the record is unknown, whatever the name suggests. */
const unspecified = (description: string) => ({ reason: 'informationUnknownToPublisher', description });

function bodsNode(row: Row, day: string): Said {
  const recordId = row.entity_key ?? '';
  const isPerson = row.kind === 'person';
  return {
    statementDate: day,
    recordId,
    recordType: isPerson ? 'person' : 'entity',
    declarationSubject: recordId,
    recordDetails: isPerson ? bodsPerson(row) : bodsEntity(row),
    source: { type: ['thirdParty'], description: 'Company-data provider' },
  };
}

function bodsPerson(row: Row): object {
  const date = birthDate(row);
  const born = date === undefined ? {} : { birthDate: date };
  return row.name
    ? { isComponent: false, personType: 'knownPerson', names: [{ fullName: row.name }], ...born }
    : {
        isComponent: false,
        personType: 'unknownPerson',
        unspecifiedPersonDetails: unspecified('No name was returned.'),
        ...born,
      };
}

function bodsEntity(row: Row): object {
  const named = Object.fromEntries(present({ name: row.name }));
  if (row.kind !== 'company')
    return {
      isComponent: false,
      entityType: { type: 'unknownEntity' },
      unspecifiedEntityDetails: unspecified('The list has a name only. It may be a person or a company.'),
      ...named,
    };
  const country = countryOf(row);
  const numbers = present({
    'Registration number': row.registration_number,
    ...Object.fromEntries(ID_SPACES.map((space) => [idSpaces[space].column, row[idSpaces[space].column]])),
  });
  return {
    isComponent: false,
    entityType: { type: row.registration_number ? 'registeredEntity' : 'legalEntity' },
    ...named,
    ...(country && { jurisdiction: { name: isoCountries().getName(country, 'en') ?? country, code: country } }),
    ...(numbers.length > 0 && { identifiers: numbers.map(([schemeName, id]) => ({ id, schemeName })) }),
  };
}

/** A shareholding is an interest. An appointment is a relationship without one, because no answer names one. */
function bodsEdge(row: Row, day: string): Said {
  const isHolding = row.kind === 'shareholding';
  const subject = row.to_key ?? '';
  const at = row.fetched_at ?? undefined;
  return {
    statementDate: at?.slice(0, 10) ?? day,
    recordId: relationDigest(row),
    recordType: 'relationship',
    declarationSubject: subject,
    recordDetails: {
      isComponent: false,
      subject,
      interestedParty: row.from_key ?? '',
      ...(isHolding && { interests: [shareholding(row)] }),
    },
    source: {
      type: ['thirdParty'],
      description: `Operation ${row.operation}, SHA-256 of the answer ${row.raw_sha256}`,
      ...(at && { retrievedAt: at }),
    },
    ...(!isHolding && { annotations: [appointment(row, day)] }),
  };
}

/** `beneficialOwnershipOrControl` is left out: the lists say neither yes nor no. */
function shareholding(row: Row): object {
  const share = percentOf(row.percentage);
  const details = present({
    'Share class': row.share_type,
    Shares: row.quantity,
    Status: row.status,
    Percentage: share === undefined ? row.percentage : null,
  });
  return {
    type: 'shareholding',
    directOrIndirect: 'direct',
    ...(share && { share: { exact: share } }),
    ...(details.length > 0 && { details: inWords(details) }),
  };
}

const appointment = (row: Row, day: string) => ({
  statementPointerTarget: '/recordDetails',
  motivation: 'commenting',
  creationDate: day,
  description: inWords([
    ['Officer', row.role || 'role not returned'],
    ...present({ Appointed: row.start_date, Resigned: row.end_date, Status: row.status }),
  ]),
});

const inWords = (facts: readonly (readonly [string, string])[]): string =>
  facts.map(([name, value]) => `${name}: ${value}`).join('. ');

/** The provider's own digits. The standard takes 0 to 100. */
function percentOf(percentage: string | null | undefined): ExactNumber | undefined {
  const plain = plainDecimal(percentage ?? '') ?? '';
  return /^(?:100(?:\.0+)?|[1-9]?\d(?:\.\d+)?)$/.test(plain) ? new ExactNumber(plain) : undefined;
}
