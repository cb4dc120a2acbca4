import { gradeCandidate } from '../domain/candidate-grade.js';
import { readIdentityMismatch } from '../domain/identity-mismatch.js';
import { nameSimilarity } from '../domain/names/similarity.js';
import { comparableNumber } from '../domain/numbers/compare.js';
import { INFORMATIVE_SPACES } from '../domain/provider.js';
import { readSearchSubject } from '../domain/search-subject.js';
import type { SnapshotRow } from '../ledger/answers/snapshot.js';
import { amountOf } from '../readers/parts/glance.js';
import type { Glance, GlanceCell } from '../readers/reader.js';
import type { Cell } from '../readers/table.js';
import { normalizeText } from '../util/text-limits.js';

/**
 * The key facts of a row's company, from the first source that has them: v1 record, v2 registry, companies module,
 * credit report.
 */
export interface CompanyFacts {
  readonly cell: (cell: GlanceCell) => Cell;
  readonly name: Cell;
  readonly registrationNumber: Cell;
  readonly country: Cell;
  readonly register: Cell;
  readonly status: Cell;
  /** The year of a newer filed turnover than the one shown, or of another one for the same year. Null: none. */
  readonly otherFiledTurnover: string | null;
  readonly grade: Cell;
  readonly listsInPart: readonly string[];
  /** The confirmed name, if the record has a new one by now. */
  readonly formerName: string | undefined;
}

/** The name under which the time of a company's last change is kept. */
export const LAST_CHANGE = 'changes';

/** The name under which companies with uncompared answers are kept. */
export const NOT_COMPARED = 'not compared';

/** The order of sources for company facts and for figures. */
const TELLING = [
  ...['record', 'registry', 'firmographics', 'flat-financials', 'credit-report'],
  ...['ownership', 'screening', 'screening-v2', LAST_CHANGE, NOT_COMPARED],
] as const;
const FIGURES = ['flat-financials', 'record', 'registry'] as const;

export function companyAtAGlance(row: SnapshotRow): CompanyFacts {
  const { glances, confirmed } = row;
  const of = (readers: readonly string[]): readonly Glance[] =>
    readers.flatMap((reader) => {
      const said = glances[reader];
      return said === undefined ? [] : [JSON.parse(said) as Glance];
    });
  const telling = of(TELLING);
  // Value, year and currency must come from one source.
  const saying = of(FIGURES);
  const figures =
    saying.find(({ turnover }) => turnover !== undefined) ??
    saying.find(({ turnover_filed }) => turnover_filed !== undefined) ??
    {};
  const cell = (wanted: GlanceCell): Cell =>
    (wanted.startsWith('turnover') ? figures[wanted] : telling.find((one) => one[wanted] !== undefined)?.[wanted]) ??
    null;
  const name = cell('name') ?? confirmed?.name ?? null;
  // Other modules may use a company's brand as its name.
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
    otherFiledTurnover: filedOtherwise(figures, saying),
    grade: gradeShown(row, { name, registrationNumber, country, register }, former !== undefined),
    listsInPart: listsInPart(Object.keys(glances).flatMap((reader) => of([reader]))),
    formerName: former,
  };
}

const listsInPart = (glances: readonly Glance[]): readonly string[] => [
  ...new Set(glances.flatMap(({ lists_in_part: lists = '' }) => lists.split(',').filter(Boolean))),
];

const YEAR = /^\d{4}$/;

/** The flat financials may end years before the filed accounts, or say otherwise about the same year. */
function filedOtherwise(
  { turnover, turnover_filed, turnover_year = '' }: Glance,
  saying: readonly Glance[],
): string | null {
  if (turnover === undefined || turnover_filed !== undefined || !YEAR.test(turnover_year)) return null;
  const since = saying.flatMap(({ turnover_filed: filed = '', turnover_filed_year: year = '' }) => {
    const isOther = !filed.split('\n').map(amountOf).includes(amountOf(turnover));
    return YEAR.test(year) && (year > turnover_year || (year === turnover_year && isOther)) ? [year] : [];
  });
  return since.sort().at(-1) ?? null;
}

type Graded = Pick<SnapshotRow, 'matchGrade' | 'questions' | 'ids' | 'fields'>;

interface Shown {
  readonly name: string | null;
  readonly registrationNumber: string | null;
  readonly country: string | null;
  readonly register: string | null;
}

/**
 * A row's grade describes what its search found. If a person accepted a different answer, that answer is shown and the
 * grade must describe it: "same number" must never stand beside another number. If the company was renamed, the name's
 * letter is for the present name.
 */
export function gradeShown(row: Graded, shown: Shown, renamed = false): string | null {
  const { matchGrade, fields } = row;
  if (matchGrade?.length !== 5 || fields === null || !(renamed || isAccepted(row, shown))) return matchGrade;
  const reading = readSearchSubject(fields);
  if (!reading.ok) return matchGrade;
  const { grade } = gradeCandidate(reading.enquiry.subject, {
    id: '',
    name: shown.name,
    registration_number: shown.registrationNumber,
    vat_number: null,
    country_code: shown.country,
    state: null,
    jurisdiction: shown.register,
  });
  if (renamed) return `${matchGrade.charAt(0)}${grade.charAt(1)}${matchGrade.slice(2)}`;
  // Such a question has no VAT number or place, and the search knew more about them.
  return `${grade.slice(0, 2)}${matchGrade.charAt(2)}${grade.charAt(3)}${matchGrade.charAt(4)}`;
}

/** The confirmed name, if the present record has another one. */
export function formerName(row: Graded & Pick<SnapshotRow, 'confirmed'>, shown: Shown): string | undefined {
  const before = row.confirmed?.name ?? null;
  if (before === null || shown.name === null || before === shown.name || isAccepted(row, shown)) return undefined;
  const [number, country] = [row.confirmed?.registrationNumber ?? '', shown.country ?? ''];
  // The match may be only that of a credit report, which a person has chosen.
  const isSame =
    number === '' || comparableNumber(number, country) === comparableNumber(shown.registrationNumber ?? '', country);
  return isSame && nameSimilarity(before, shown.name) < 100 ? before : undefined;
}

/** The shown answer was accepted by a person, unless it was replaced since. */
function isAccepted({ questions, ids }: Graded, { registrationNumber }: Shown): boolean {
  const telling = INFORMATIVE_SPACES.find((space) => ids[space] !== undefined);
  return questions.some(({ space, stage, answered, decision, candidateId, entityKey }) => {
    if (space !== telling || stage === null || answered !== 1) return false;
    if (decision !== 'confirm' || candidateId !== ids[space]) return false;
    const { bought, confirmed } = readIdentityMismatch(entityKey) ?? {};
    const country = confirmed?.countryCode ?? '';
    return (
      comparableNumber(bought?.registrationNumber ?? '', country) ===
      comparableNumber(registrationNumber ?? '', country)
    );
  });
}

/** A company status that matters to business partners. A normal active company has none. */
export type CompanyState = 'dissolved' | 'struck off' | 'insolvent' | 'in liquidation' | 'dormant';

/**
 * Registers' words for each state. The set is open (V1-28). The list only colours a cell and ends a sentence, and an
 * unlisted word is still shown.
 */
const WORDS: Readonly<Record<CompanyState, string>> = {
  dissolved: `dissolved; ceased; dissoute; cessée; cessata; sciolta; disuelta; extinguida; dissolvida; ontbonden;
    opgeheven; opløst; oppløst; upplöst; rozwiązana`,
  'struck off': `struck off; struck off the register; removed; removed from the register; deregistered; cancelled; deleted;
    gelöscht; erloschen; radiée; radié; cancellata; uitgeschreven; avregistrerad; slettet; wykreślona; wykreślony; vymazána`,
  insolvent: `insolvent; insolvency; in insolvency; insolvency proceedings; in insolvency proceedings; bankrupt; bankruptcy;
    in bankruptcy; bankruptcy proceedings; insolvenz; insolvenzverfahren; insolvenzverfahren eröffnet; in insolvenz; in konkurs;
    konkurs; redressement judiciaire; liquidation judiciaire; en redressement judiciaire; en liquidation judiciaire; faillite;
    en faillite; fallita; fallimento; in fallimento; concurso; en concurso; concurso de acreedores; insolvente; failliet;
    faillissement; in faillissement; under konkurs; upadłość; w upadłości; v insolvenci; v konkurzu`,
  'in liquidation': `in liquidation; liquidation; under liquidation; being wound up; winding up; in administration;
    administration; receivership; in receivership; receiver action; voluntary arrangement; in liquidazione; liquidazione;
    en liquidation; en liquidación; em liquidação; i.l.; in abwicklung; in vereffening; under afvikling; under avvikling;
    i likvidation; likvidation; w likwidacji; v likvidaci; v likvidácii`,
  dormant: `dormant; inactive; inaktiv; ruhend; en sommeil; inattiva; inactiva; slapend; vilande; zawieszona; suspended`,
};

const STATES: ReadonlyMap<string, CompanyState> = new Map(
  (Object.keys(WORDS) as CompanyState[]).flatMap((state) =>
    WORDS[state].split(';').map((words): [string, CompanyState] => [plain(words), state]),
  ),
);

/** Only the whole status counts: `Active, proposal to strike off` and `No insolvency` do not match. */
export const stateOfStatus = (status: string): CompanyState | undefined => STATES.get(plain(status));

export const hasEnded = (state: CompanyState): boolean => state === 'dissolved' || state === 'struck off';

function plain(text: string): string {
  return normalizeText(text, 'NFC')
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ');
}
