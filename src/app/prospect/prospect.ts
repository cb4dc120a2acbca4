import { companies } from '../../api/v2/operations/companies.js';
import { nomenclature } from '../../api/v2/operations/nomenclature.js';
import { prospecting } from '../../api/v2/operations/prospecting.js';
import { type KybatchError, UsageError } from '../../domain/errors.js';
import { type ProspectRow, prospectRow } from '../../readers/prospects.js';
import { type AskDoor, termsOf, withAskDoor } from '../ask-door.js';
import { ownedElsewhere } from '../owned-elsewhere.js';
import { checkOperations, withProvider } from '../provider.js';
import { DeclinedError, wholeNumber } from '../spending.js';
import { here, type Surroundings, withLedger } from '../surroundings.js';
import { type Collected, collectProspects } from './collect.js';
import { readFilters, type WrittenFilters } from './filters-file.js';
import type { ProspectOptions, ProspectProposal } from './options.js';
import { askProfiles, type Profiles } from './profiles.js';
import { resolveFilters } from './resolve-filters.js';
import { type ProspectTarget, prospectTarget, writeProspects } from './write.js';

export interface ProspectView extends Omit<Collected, 'prospects'> {
  readonly proposal: ProspectProposal;
  readonly prospects: number;
  /** How many have which `profile`. */
  readonly profiles: Readonly<Record<string, number>>;
  readonly withNumber: number;
  /** Why the first of those failed that may be had another time; null: none has. */
  readonly failure: KybatchError | null;
  readonly answers: { readonly owned: number; readonly sent: number };
  /** What was written; null where no company was found, and nothing was. */
  readonly written: { readonly input: string; readonly tables: string } | null;
}

/** What the document allows (V2-10). */
export const PAGES_AT_MOST = 10;
/** How many the provider puts on a page is not shown: it is always said, so that the calls can be counted before. */
const PER_PAGE = 25;
const PER_PAGE_AT_MOST = 1000;

/** Companies that fit the filters, as an input file for `run` and as tables. What is owned is not asked for again. */
export async function prospect(options: ProspectOptions, around = here()): Promise<ProspectView> {
  const { profiles = true } = options;
  const pages = wholeNumber('--pages', options.pages, 1, PAGES_AT_MOST) ?? PAGES_AT_MOST;
  const perPage = wholeNumber('--per-page', options.perPage, 1, PER_PAGE_AT_MOST) ?? PER_PAGE;
  const written = readFilters(options.filters, around);
  mustAgree(options);
  const operations = [nomenclature.nomenclature, prospecting.prospecting];
  checkOperations(profiles ? [...operations, companies.companyProfile] : operations, options, around);
  const target = await prospectTarget(options, around);
  const bounds = { pages, perPage, profilesAtMost: profiles ? pages * perPage : 0 };
  return await withLedger('write', options, around, (ledger) =>
    withProvider(
      options,
      around,
      async (provider) => {
        const only = { v1: '', v2: provider.names.v2, mcp: '' };
        for (const note of await ownedElsewhere(only, ledger)) around.onNote?.(note);
        return await withAskDoor(provider, options, ledger, around, (door) =>
          search({ written, bounds, target }, options, door, around),
        );
      },
      { keepSandbox: true },
    ),
  );
}

interface Search {
  readonly written: WrittenFilters;
  readonly bounds: Pick<ProspectProposal, 'pages' | 'perPage' | 'profilesAtMost'>;
  readonly target: ProspectTarget;
}

async function search(
  { written, bounds, target }: Search,
  options: ProspectOptions,
  door: AskDoor,
  around: Surroundings,
): Promise<ProspectView> {
  const proposal = { ...(await resolveFilters(written, options.filters, door.ask)), ...bounds };
  if (options.agree !== undefined && !(await options.agree(proposal))) throw new DeclinedError();
  // Vocabularies are kept for a year, whatever is asked anew.
  const terms = termsOf(options);
  const asked = { filters: proposal.filters, per_page: proposal.perPage };
  const { prospects, ...collected } = await collectProspects(asked, proposal.pages, door, terms, options);
  const none: Profiles = { seen: new Map(), failure: null };
  const { seen, failure } = proposal.profilesAtMost === 0 ? none : await askProfiles(prospects, door, terms);
  const { includeContacts = false } = options;
  const shown = { isPart: collected.isPart, includeContacts };
  const rows = prospects.map((one, index) => prospectRow(one, index + 1, seen.get(one.id) ?? 'not_asked', shown));
  const files = rows.length === 0 ? null : await writeProspects(rows, target, { ...collected, proposal }, around);
  return {
    ...collected,
    proposal,
    prospects: rows.length,
    profiles: countsOf(rows),
    withNumber: rows.filter((row) => row.registration_number).length,
    failure,
    answers: { ...door.answers },
    written: files,
  };
}

function countsOf(rows: readonly ProspectRow[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { profile } of rows) counts[profile ?? ''] = (counts[profile ?? ''] ?? 0) + 1;
  return counts;
}

/** As `run` has it: where nobody can be asked, somebody must have said yes. The sandbox costs nothing. */
function mustAgree({ yes, sandbox, agree }: ProspectOptions): void {
  if (yes === true || sandbox === true || agree !== undefined) return;
  throw new UsageError(
    'prospect spends money, and there is no terminal to ask on',
    'Nothing was spent. Add --yes. --pages and --per-page bound what is asked for.',
  );
}
