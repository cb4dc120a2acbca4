import type { ProspectProposal } from '../../app/prospect/options.js';
import { PAGES_AT_MOST, type ProspectView } from '../../app/prospect/prospect.js';
import { stringifyExact } from '../../util/exact-json-write.js';
import { outsideText } from '../../util/outside-text.js';
import { count, withCommas } from './text.js';

/** What will be asked for, and how many calls that takes at the most. */
export function prospectingInWords(proposal: ProspectProposal): string {
  const { filters, names, pages, perPage } = proposal;
  const width = Math.max(...Object.keys(filters).map((key) => key.length));
  const lines = Object.entries(filters).map(([key, value]) => {
    const said = names
      .filter(({ filter }) => filter === key)
      .map(({ name, id }) => `${id} is ${outsideText(name, 80)}`);
    return `  ${key.padEnd(width)}  ${stringifyExact(value)}${said.length === 0 ? '' : `  (${said.join(', ')})`}`;
  });
  return [
    'Companies that fit all of these:',
    ...lines,
    `${capital(callsInWords(proposal))}, with ${perPage} companies a page (--per-page) and ${count(pages, 'page')} (--pages; 10 at the most). What is owned is not asked for again; what is lost may be.`,
    '',
  ].join('\n');
}

export const callsInWords = ({ pages, profilesAtMost }: ProspectProposal): string =>
  `at most ${count(pages, 'call')} of prospecting${profilesAtMost === 0 ? '' : ` and ${withCommas(profilesAtMost)} of companyProfile`}`;

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** What was found, what is missing, and where it is. `next`: the commands that can be pasted. */
export function foundInWords(view: ProspectView, next: { readonly plan: string }): string {
  const { prospects, pages, answers, written, withNumber } = view;
  const lines = [
    `${count(prospects, 'company', 'companies')} found on ${count(pages, 'page')}; ${answers.sent} answers asked for, ${answers.owned} owned before.`,
    ...partInWords(view),
    ...view.notes.map((note) => `Note: ${outsideText(note)}.`),
    ...(view.repeated === 0
      ? []
      : [`${count(view.repeated, 'company', 'companies')} came on more than one page, and is listed once.`]),
    ...(prospects === 0 ? [] : [`${withCommas(withNumber)} of ${withCommas(prospects)} have a registration number.`]),
    ...Object.entries(PROFILES).flatMap(([profile, words]) => {
      const many = view.profiles[profile] ?? 0;
      return many === 0 ? [] : [`  ${withCommas(many)} ${words}`];
    }),
    ...(view.failure === null ? [] : [`  The first that failed: ${outsideText(view.failure.message, 300)}`]),
    ...(written === null
      ? ['No company fits: nothing was written.']
      : [`Input file: ${written.input}`, `Tables: ${written.tables}`, `What it would cost to buy them: ${next.plan}`]),
  ];
  return `${lines.join('\n')}\n`;
}

/** V2-20: a part is never taken for all. */
function partInWords({ isPart, pages, totalPages, totalCompanies, prospects }: ProspectView): readonly string[] {
  if (!isPart) return [];
  const all = totalCompanies === null ? 'more' : `${withCommas(totalCompanies)} companies`;
  const inPages = totalPages === null ? '' : ` in ${withCommas(totalPages)} pages`;
  return [
    `This is a part: the provider counts ${all}${inPages}, and ${count(pages, 'page')} with ${withCommas(prospects)} of them ${pages === 1 ? 'was' : 'were'} read. ${pages < PAGES_AT_MOST ? '--pages asks for more of them, up to 10' : 'It gives no more than 10 pages: narrow the filters'}, or ask for more on a page with --per-page.`,
  ];
}

const PROFILES: Readonly<Record<string, string>> = {
  other_name: 'without: the profile under their ID is called otherwise, and was not used',
  no_name: 'without: prospecting or the profile has no name to compare',
  not_available: 'without: the provider has no profile for them',
  failed: 'without: the profile could not be had; the same command asks again',
  not_asked: 'without: profiles were not asked for',
};

export const foundToJson = (view: ProspectView, next: { readonly plan: string }) => ({
  filters: view.proposal.filters,
  names: view.proposal.names,
  prospects: view.prospects,
  with_number: view.withNumber,
  profiles: view.profiles,
  pages: view.pages,
  per_page: view.proposal.perPage,
  total_companies: view.totalCompanies,
  total_pages: view.totalPages,
  is_part: view.isPart,
  repeated: view.repeated,
  notes: view.notes,
  ...view.answers,
  input: view.written?.input ?? null,
  tables: view.written?.tables ?? null,
  ...(view.written === null ? {} : { next: next.plan }),
});
