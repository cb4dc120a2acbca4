import type { SnapshotRow } from '../ledger/snapshot.js';
import type { Glance, GlanceCell } from '../readers/glance.js';
import type { Cell } from '../readers/table.js';
import { formerName, gradeShown } from './grade-shown.js';

/** What is known of a line's company, from whoever says it first: its record, v2's, the companies module, its report. */
export interface CompanyAtAGlance {
  /** Null where nobody says it. */
  readonly cell: (cell: GlanceCell) => Cell;
  readonly name: Cell;
  readonly registrationNumber: Cell;
  readonly country: Cell;
  readonly register: Cell;
  readonly status: Cell;
  /** The year of a turnover that was filed since the one that stands here; null where there is none. */
  readonly turnoverFiledSince: string | null;
  /** How the line agrees with what stands here. */
  readonly grade: Cell;
  /** The name under which the company was confirmed, if its record has another one by now. */
  readonly formerName: string | undefined;
}

/** Whose word counts first for a company, and for its figures. */
const TELLING = ['record', 'registry', 'firmographics', 'flat-financials', 'credit-report'] as const;
const FIGURES = ['flat-financials', 'record', 'registry'] as const;

export function companyAtAGlance(row: SnapshotRow): CompanyAtAGlance {
  const { glances, confirmed } = row;
  const of = (readers: readonly string[]): readonly Glance[] =>
    readers.flatMap((reader) => {
      const said = glances[reader];
      return said === undefined ? [] : [JSON.parse(said) as Glance];
    });
  const telling = of(TELLING);
  // Value, year and currency belong together: they come from one of them.
  const saying = of(FIGURES);
  const figures =
    saying.find(({ turnover }) => turnover !== undefined) ??
    saying.find(({ turnover_filed }) => turnover_filed !== undefined) ??
    {};
  const cell = (wanted: GlanceCell): Cell =>
    (wanted.startsWith('turnover') ? figures[wanted] : telling.find((one) => one[wanted] !== undefined)?.[wanted]) ??
    null;
  const name = cell('name') ?? confirmed?.name ?? null;
  // Other modules may know a company by its brand.
  const recordName = of(['record', 'registry']).find((one) => one.name !== undefined)?.name ?? null;
  const registrationNumber = cell('registration_number') ?? confirmed?.registrationNumber ?? null;
  const country = cell('country_code') ?? confirmed?.countryCode ?? null;
  const register = cell('register') ?? confirmed?.register ?? null;
  const former = formerName(row, { name: recordName, registrationNumber, country, register });
  return {
    cell,
    name,
    registrationNumber,
    country,
    register,
    status: cell('status'),
    turnoverFiledSince: filedSince(figures, saying),
    grade: gradeShown(row, { name, registrationNumber, country, register }, former !== undefined),
    formerName: former,
  };
}

const YEAR = /^\d{4}$/;

/** The flat financials may end years before the accounts that were filed. */
function filedSince(
  { turnover, turnover_filed, turnover_year = '' }: Glance,
  saying: readonly Glance[],
): string | null {
  if (turnover === undefined || turnover_filed !== undefined || !YEAR.test(turnover_year)) return null;
  const later = saying.flatMap(({ turnover_filed_year: year = '' }) =>
    YEAR.test(year) && year > turnover_year ? [year] : [],
  );
  return later.sort().at(-1) ?? null;
}
