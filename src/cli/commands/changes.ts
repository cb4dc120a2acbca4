import type { ChangedItem, ChangesView, ChangeView } from '../../app/portfolio/changes.js';
import { ExitCode } from '../../domain/errors.js';
import { type Message, message } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { pick } from '../../util/view-json.js';
import { count, inUtc, listed, rowInWords } from '../../util/words.js';
import { onlySandboxOption, register, switchFlag, textFlag } from '../command.js';
import { appEnvironment, printJson, printResult } from '../terminal/io.js';
import { lookFlags } from '../terminal/suggestions.js';
import { shellWord, shortened } from '../terminal/text.js';
import { block, view } from '../terminal/view.js';

export const changesCommand = register({
  command: 'changes [portfolio]',
  describe: 'Show what changed at the companies of a list',
  builder: (yargs) =>
    yargs
      .positional('portfolio', { type: 'string', describe: 'Its name, or its file (default: all)' })
      .option('since', textFlag('A day (2026-01-31), a run, or next_since of the last look'))
      .option('sandbox', onlySandboxOption)
      .option('all', switchFlag('Also the changes that are not important'))
      .option('raw', textFlag('Print one stored answer, by its SHA-256 or its first digits')),
  async run(args, io) {
    const { dataDir, portfolio, since, sandbox, all, raw } = args;
    if (raw !== undefined) {
      const { rawAnswer } = await import('../../app/portfolio/changes.js');
      const { rawSha256, body } = await rawAnswer({ dataDir, sha256: raw }, appEnvironment(io));
      const text = body.toString('utf8');
      if (io.json) printJson(io, { rawSha256, body: text });
      else io.stdout(`${text}\n`);
      return ExitCode.ok;
    }
    const { changes } = await import('../../app/portfolio/changes.js');
    const found = await changes({ dataDir, portfolio, since, sandbox }, appEnvironment(io));
    const again = `${portfolio === undefined ? '' : ` ${shellWord(portfolio)}`}${all ? ' --all' : ''}${lookFlags(args)}`;
    printResult(io, changesJson(found), changesInWords(found, all, again));
  },
});

type Field = ChangedItem['fields'][number];

/** Companies with an important change come first. Without `all` the others are left out. `again`: the flags of this command. */
function changesInWords(found: ChangesView, all: boolean, again: string): readonly Message[] {
  const companies = groupByMember(found.changes).filter((changes) => all || hasImportant(changes));
  const notShown = linesOf(found, true) - linesOf(found, all);
  return view(
    companies
      .toSorted((a, b) => Number(hasImportant(b)) - Number(hasImportant(a)))
      .map((changes, index) => block('COMPANY_CHANGED', index > 0 && '', companyInWords(changes, all))),
    found.changes.length + found.notCompared === 0 && message('NOTHING_CHANGED', 'No changes.'),
    found.notCompared > 0 &&
      message(
        'CHANGES_NOT_COMPARED',
        `${count(found.notCompared, 'new answer is', 'new answers are')} not compared yet. The next \`kybatch run\` does that, free.`,
      ),
    notShown > 0 && message('CHANGES_NOT_SHOWN', `${count(notShown, 'change')} of less importance: --all`, 'detail'),
    found.more && message('CHANGES_NEXT', `More changes: kybatch changes${again} --since ${found.nextSince}`),
  );
}

const linesOf = ({ changes }: ChangesView, all: boolean): number =>
  changes.flatMap(({ items }) => items).flatMap((item) => itemInWords(item, all)).length;

const isImportant = ({ fields }: Pick<ChangedItem, 'fields'>): boolean => fields.some(({ important }) => important);
const hasImportant = (changes: readonly ChangeView[]): boolean => changes.some(({ items }) => items.some(isImportant));

function groupByMember(changes: readonly ChangeView[]): readonly (readonly ChangeView[])[] {
  const groups = new Map<number, ChangeView[]>();
  for (const change of changes) groups.set(change.memberId, [...(groups.get(change.memberId) ?? []), change]);
  return [...groups.values()];
}

function companyInWords(changes: readonly ChangeView[], all: boolean): readonly string[] {
  const [first] = changes;
  if (first === undefined) return [];
  const { name, ids, row, line, inputId, portfolio } = first;
  const where = listed([
    inputId !== null && `ID ${inShort(inputId)}`,
    row === null ? 'no longer in the list' : rowInWords(row, line),
    portfolio,
  ]);
  return [
    `${inShort(name ?? ids.v1 ?? ids.v2 ?? 'a company')}: ${where}`,
    ...changes.flatMap((change) => answerInWords(change, all)),
  ];
}

/** The changes by one answer, and the commands that print this answer and the one before. */
function answerInWords({ items, changedAt }: ChangeView, all: boolean): readonly string[] {
  const shown = items
    .filter((item) => all || isImportant(item))
    .toSorted((a, b) => Number(isImportant(b)) - Number(isImportant(a)));
  const raw = (sha256: string) => `kybatch changes --raw ${sha256.slice(0, 16)}`;
  return [
    ...shown.flatMap((item) =>
      itemInWords(item, all).map((words) => `  ${inUtc(changedAt, 10).slice(0, 10)}  ${words}`),
    ),
    // A list that was missing in the last answer is compared with an earlier one. A list may have several pages.
    ...new Set(
      shown.flatMap(({ oldRawSha256, newRawSha256 }) => [
        `              before  ${raw(oldRawSha256)}`,
        `              after   ${raw(newRawSha256)}`,
      ]),
    ),
  ];
}

function itemInWords({ fields }: ChangedItem, all: boolean): readonly string[] {
  const [first] = fields;
  if (first === undefined || !(all || isImportant({ fields }))) return [];
  if (first.column === null) return [`${first.table}: ${first.kind} ${labelOf(fields)}`];
  return fields
    .filter(({ important }) => all || important)
    .map(
      (field) =>
        `${whereOf(field)}: ${shownValue(field.oldValue)} → ${shownValue(field.newValue)}${field.kind === 'respelled' ? ' (respelled)' : ''}`,
    );
}

/** The added or removed item, by its name if it has one. */
function labelOf(fields: readonly Field[]): string {
  const cells = new Map(Object.entries(fields[0]?.key ?? {}).map(([column, value]) => [column, String(value ?? '')]));
  for (const { column, oldValue, newValue } of fields)
    if (column !== null) cells.set(column, newValue ?? oldValue ?? '');
  const named = (...columns: string[]) => columns.flatMap((column) => cells.get(column) || []).join(' ');
  const name = named('first_name', 'last_name') || named('name') || named('text') || keyWords(fields[0]);
  const more = ['job_title', 'percentage', 'value'].flatMap((column) =>
    cells.get(column) ? `${column} ${cells.get(column)}` : [],
  );
  return inShort([name, ...more].join(', '));
}

/** `companies.status`. A table with several lines for a company adds the key of the line. */
const whereOf = (field: Field): string =>
  SINGLE.has(field.table) || Object.hasOwn(field.key, field.column ?? '')
    ? `${field.table}.${field.column}`
    : `${field.table} ${keyWords(field)}, ${field.column}`;

/** Tables with one line for a company. */
const SINGLE: ReadonlySet<string> = new Set(['companies', 'credit_reports']);

const keyWords = (field: Field | undefined): string => {
  const { operation: _, ...key } = field?.key ?? {};
  return inShort(
    Object.values(key)
      .filter((value) => value !== null)
      .join(' '),
  );
};

const shownValue = (value: string | null): string =>
  value === null ? '(nothing)' : value === '' ? '""' : inShort(value);

/** Text of a provider or a file, in one short line. */
const inShort = (text: string): string => shortened(sanitizeText(text), 80);

export const changesJson = ({ changes, ...found }: ChangesView) => ({
  changes: changes.flatMap((change) =>
    change.items.flatMap((item) =>
      item.fields.map((field) => ({
        ...pick(change, 'changedAt', 'portfolio', 'row', 'line', 'inputId'),
        v1CompanyId: change.ids.v1 ?? null,
        v2CompanyId: change.ids.v2 ?? null,
        ...pick(field, 'table', 'key', 'column', 'kind', 'oldValue', 'newValue'),
        ...pick(item, 'oldRawSha256', 'newRawSha256'),
        run: change.runId,
        important: field.important,
      })),
    ),
  ),
  ...pick(found, 'nextSince', 'more', 'notCompared'),
});
