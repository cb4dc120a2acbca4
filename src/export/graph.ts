// The ownership and people graph of a portfolio: its tables, and how lines of answers become nodes and edges.

import { numberKey } from '../domain/entity-key.js';
import {
  type GraphId,
  type GraphParty,
  identifiersOf,
  identifiersOfEnd,
  type LinkEnd,
  splitNumber,
} from '../domain/ownership-graph.js';
import { idSpaces } from '../domain/provider.js';
import type { GraphCells, GraphNodeFacts, GraphRelation, GraphStore } from '../ledger/answers/graph-store.js';
import type { ConfirmedCompany, SnapshotRow } from '../ledger/answers/snapshot.js';
import { companiesTable } from '../readers/parts/company-row.js';
import { groupLinkOf, groupLinksTable } from '../readers/parts/group-links.js';
import { officersTable, shareholdersTable } from '../readers/parts/officers-shareholders.js';
import type { Reader, ReaderOutput, SubjectAnswers } from '../readers/reader.js';
import {
  type Cell,
  column,
  emptyExtra,
  joinCells,
  operationColumn,
  type Row,
  rawSha256,
  table,
  timestamp,
} from '../readers/table.js';
import { normalizeText } from '../util/text-limits.js';
import type { Outputs } from './outputs.js';
import type { GraphSink } from './parts.js';
import { companySpaces, idColumn } from './run-tables.js';

export const entitiesTable = table({
  name: 'entities',
  onePer: 'company, person or holder',
  description:
    'The nodes of the graph: every company that a row was confirmed as, and everyone whom lists of officers, shareholders and group links name. One company has one line, whichever IDs name it. People with the same name and month of birth have one line. Without a month of birth, each mention has a line of its own. All tables about companies refer to it with `company_key`.',
  source: 'ledger, `companies`, `officers`, `shareholders` and `group_links`',
  key: ['entity_key'],
  keyAlwaysThere: true,
  columns: [
    column(
      'entity_key',
      'text',
      'Company: country and registration number, with the court or state if they number separately, else an ID such as `v1-123`. Person: name and month of birth. Else: company, operation, list and position of the mention',
    ),
    column('kind', 'text', 'company, person, or unknown: lists of shareholders do not say what a holder is'),
    column('name', 'text', 'Name, from the record, else from the search, else as first mentioned'),
    column('country_code', 'text', 'ISO alpha-2. Of people: not known'),
    column('registration_number', 'text', 'Registration number, as sent'),
    ...companySpaces.map(idColumn),
    column('tree_node_id', 'id', 'ID of the company in the tree of the ownership module'),
    column('birth_year', 'integer', 'Year of birth of a person'),
    column('birth_month', 'integer', 'Month of birth'),
    column('in_list', 'boolean', '`true` if a row of the list, now or before, was confirmed as this company'),
    emptyExtra,
  ],
});

export const relationsTable = table({
  name: 'relations',
  onePer: 'shareholding, directorship or group link',
  description:
    'The edges of the graph, from `from_key` (holder, officer, first end) to `to_key` (company, second end). Shareholdings are direct. A group link does not show who controls whom. No line shows who a beneficial owner is. Several operations may report the same holding, each in a line. Searches by name are not part of the graph.',
  source: '`officers`, `shareholders` and `group_links`',
  key: ['to_key', 'kind', 'from_key', 'operation', 'position'],
  keyAlwaysThere: false,
  columns: [
    column('from_key', 'text', 'Holder, officer or first end of the link. See `entities`'),
    column('to_key', 'text', 'The company, or the second end of the link. See `entities`'),
    column('kind', 'text', 'shareholding, directorship or group_link'),
    column('percentage', 'number', 'Direct holding in percent, as sent. Empty: not known'),
    column('current', 'boolean', 'Whether it lasts, from the status and the end date. Empty: not known'),
    column(
      'chain_ends',
      'boolean',
      '`true` if no line names a holder or parent of `from_key`: the data ends there. Empty for a directorship',
    ),
    operationColumn,
    column('fetched_at', 'timestamp', 'When the answer was bought', 'the call'),
    rawSha256,
    column('role', 'text', 'Role of an officer, as sent'),
    column('status', 'text', 'Status of the holding or appointment, as sent'),
    column('start_date', 'date', 'Date of appointment'),
    column('end_date', 'date', 'Date of resignation'),
    column('quantity', 'number', 'Number of shares'),
    column('share_type', 'text', 'Class of shares'),
    column('position', 'integer', 'Place in the list. Empty for a group link, which several lists may have'),
    emptyExtra,
  ],
});

const LISTS = [officersTable, shareholdersTable, groupLinksTable] as const;

export function addLists(graph: GraphSink, { tables }: Reader, subject: SubjectAnswers, out: ReaderOutput): void {
  const { companyKey } = subject;
  if (companyKey == null) return;
  const [officers = [], shareholders = [], links = []] = LISTS.map((list) =>
    tables.some(({ name }) => name === list.name) ? out.shownOf(list) : [],
  );
  if (officers.length + shareholders.length + links.length === 0) return;
  const company = new CompanyLists(graph, subject, companyKey, out.shownOf(companiesTable)[0]);
  for (const row of officers) company.officer(row);
  for (const row of shareholders) company.shareholder(row);
  for (const row of links) company.link(row);
}

class CompanyLists {
  readonly #node: number;
  readonly #ids: readonly GraphId[];
  /** Tells the mentions of this record apart from those of others with the same key. */
  readonly #record: string;
  readonly #fetchedAt: ReadonlyMap<string, number>;
  readonly #ends = new Map<string, number>();

  constructor(
    private readonly graph: GraphSink,
    subject: SubjectAnswers,
    private readonly key: string,
    record: Row | undefined,
  ) {
    this.#ids = graphIds(subject.ids);
    this.#record = `${key}|${subject.id}`;
    this.#fetchedAt = new Map(subject.answers.map(({ rawSha256: digest, fetchedAt }) => [digest, fetchedAt]));
    const party = {
      name: record?.name ?? null,
      countryCode: record?.country_code ?? null,
      registrationNumber: record?.registration_number ?? null,
      ids: this.#ids,
    };
    const facts = { key, keySource: 'match', kind: 'company', cells: {} } as const;
    this.#node = graph.add(matchIdentifiers(key, party), facts);
  }

  officer(row: Row): void {
    const { first_name: first, last_name: last, date_of_birth_year: year, date_of_birth_month: month } = row;
    const name = [first, last].filter((text) => text).join(' ');
    const cells = filled({ name, birth_year: year, birth_month: month });
    // A family name alone and a month of birth may be two people's.
    const isKnown = isFilled(first) && isFilled(last) && plain(name) !== '' && isFilled(year) && isFilled(month);
    const key = isKnown ? `person-${plain(name)}-${year}-${month.padStart(2, '0')}` : undefined;
    // A company may be an officer. It has no given name and no birthday.
    const kind = isFilled(year) || isFilled(first) ? 'person' : 'unknown';
    const from =
      key === undefined
        ? this.#mention('officers', row, kind, cells)
        : this.graph.add([key], { key, keySource: 'id', kind, cells });
    this.#relate(from, row, 'directorship', {
      current: isFilled(row.resigned_at) ? 'false' : isCurrent(row.work_status),
      role: row.job_title,
      status: row.work_status,
      start_date: row.appointed_at,
      end_date: row.resigned_at,
    });
  }

  shareholder(row: Row): void {
    const from = this.#mention('shareholders', row, 'unknown', filled({ name: row.name }));
    this.#relate(from, row, 'shareholding', {
      percentage: row.percentage,
      current: isCurrent(row.status),
      status: row.status,
      quantity: row.quantity,
      share_type: row.share_type,
    });
  }

  link(row: Row): void {
    const { source, target, operation } = groupLinkOf(row, this.#ids);
    const add = (end: LinkEnd, side: string) => {
      const known = JSON.stringify([operation, end]);
      const index = this.#ends.get(known) ?? this.#company(end, operation, `group_links.${row.position}.${side}`);
      this.#ends.set(known, index);
      return index;
    };
    const to = add(target, 'target');
    if (source === null) return;
    const from = add(source, 'source');
    this.#relate(from, row, 'group_link', {}, to);
  }

  #company(end: LinkEnd, operation: string, place: string): number {
    const { country, number } =
      end.registrationNumber === null
        ? { country: end.countryCode, number: null }
        : splitNumber(end.registrationNumber, end.countryCode);
    const [id] = end.ids;
    const cells = filled({
      name: end.name,
      country_code: end.countryCode ?? country,
      registration_number: end.registrationNumber,
      [id?.scheme === 'v1' ? idSpaces.v1.column : 'tree_node_id']: id?.id,
    });
    const own = identifiersOfEnd(end, operation, matchIdentifier(this.key));
    const canonical = numberKey({ countryCode: country, registrationNumber: number });
    const named = own.find((text) => text.startsWith('number|'));
    const made: Pick<GraphNodeFacts, 'key' | 'keySource'> =
      canonical !== undefined
        ? { key: canonical, keySource: 'number' }
        : id !== undefined
          ? { key: `${id.scheme === 'v1' ? 'v1' : 'ownership-node'}-${id.id}`, keySource: 'id' }
          : named !== undefined
            ? { key: plain(named.slice('number|'.length)), keySource: 'number_and_name' }
            : { key: `${this.key}.${operation}.${place}`, keySource: 'mention' };
    const identifiers = canonical === undefined ? own : [...own, matchIdentifier(canonical)];
    return this.graph.add(identifiers, { key: made.key, keySource: made.keySource, kind: 'company', cells });
  }

  #mention(list: string, row: Row, kind: GraphNodeFacts['kind'], cells: GraphCells): number {
    const place = `${row.operation}.${list}.${row.position}`;
    // No other mention can be the same, so it needs no identifier.
    return this.graph.add([], { key: `${this.key}.${place}`, keySource: 'mention', kind, cells });
  }

  /** Lists of several companies may have a group link, so it has no place and no position. */
  #relate(
    from: number,
    row: Row,
    kind: GraphRelation['kind'],
    cells: Record<string, Cell | undefined>,
    to = this.#node,
  ): void {
    const isLink = kind === 'group_link';
    const { operation, raw_sha256, position } = row;
    this.graph.relate({
      from,
      to,
      kind,
      operation: operation ?? '',
      place: isLink ? '' : `${this.#record}|${position}`,
      fetchedAt: this.#fetchedAt.get(raw_sha256 ?? '') ?? 0,
      cells: filled(joinCells(cells, { position: isLink ? null : position, raw_sha256 })),
    });
  }
}

const isFilled = (cell: Cell | undefined): cell is string => cell !== null && cell !== undefined && cell !== '';

/** A loop: the usual functions over entries took a quarter of the time. */
function filled(cells: Readonly<Record<string, Cell | undefined>>): GraphCells {
  const kept: Record<string, string> = {};
  for (const name in cells) {
    const cell = cells[name];
    if (isFilled(cell)) kept[name] = cell;
  }
  return kept;
}

/** One spelling for a key: small letters, digits and hyphens. */
const plain = (text: string): string =>
  normalizeText(text, 'NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '');

/** The words are not documented: `ACTIVE` was seen. Others say nothing. */
const isCurrent = (status: Cell | undefined): Cell => {
  if (/^(?:active|current)$/i.test(status ?? '')) return 'true';
  return /^(?:inactive|former|previous|resigned|ceased)$/i.test(status ?? '') ? 'false' : null;
};

const graphIds = (ids: SubjectAnswers['ids']): readonly GraphId[] =>
  (['v1', 'v2'] as const).flatMap((scheme) => {
    const id = ids[scheme];
    return id === undefined ? [] : [{ scheme, id }];
  });

const matchIdentifier = (key: string): string => `key|${key}`;

const matchIdentifiers = (key: string, party: GraphParty): readonly string[] => [
  matchIdentifier(key),
  ...identifiersOf(party),
];

/** Adds a company of the list. Several rows may be about it: the last one that has a fact tells it. */
export function addMatch(
  graph: GraphStore,
  {
    companyKey: key,
    ids,
    name = null,
    countryCode = null,
    registrationNumber = null,
  }: Pick<SnapshotRow, 'companyKey' | 'ids'> &
    Partial<Pick<ConfirmedCompany, 'name' | 'countryCode' | 'registrationNumber'>>,
): void {
  if (key === null) return;
  const cells = filled({
    name,
    country_code: countryCode,
    registration_number: registrationNumber,
    in_list: 'true',
    ...Object.fromEntries(companySpaces.map((space) => [idSpaces[space].column, ids[space]])),
  });
  const party = { name, countryCode, registrationNumber, ids: graphIds(ids) };
  graph.add(matchIdentifiers(key, party), { key, keySource: 'match', kind: 'company', cells });
}

/** Writes both tables. Everything has to be added before. */
export function writeGraph(graph: GraphStore, outputs: Outputs): void {
  for (const { key, kind, cells } of graph.entities())
    outputs.write('entities', [joinCells({ entity_key: key, kind }, cells)]);
  for (const { fromKey, toKey, kind, operation, chainEnds, fetchedAt, cells } of graph.relations()) {
    const chain_ends = chainEnds === null ? null : String(chainEnds);
    const ends = { from_key: fromKey, to_key: toKey, kind, operation, chain_ends, fetched_at: timestamp(fetchedAt) };
    outputs.write('relations', [joinCells(ends, cells)]);
  }
}
