import type { ChangedItem, ChangesView, ChangeView } from '../../app/portfolio/changes.js';
import { ExitCode } from '../../domain/errors.js';
import { type Message, message } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { onlySandboxOption, type ProviderArgs, type Verb } from '../command.js';
import { appEnvironment, printJson, printResult } from '../terminal/io.js';
import { lookFlags, placeFlags } from '../terminal/suggestions.js';
import { count, inUtc, iso, rowInWords, shellWord } from '../terminal/text.js';

interface ChangesArgs extends ProviderArgs {
  readonly portfolio: string | undefined;
  readonly since: string | undefined;
  readonly all: boolean;
  readonly raw: string | undefined;
}

export const changesVerb: Verb<ChangesArgs> = {
  command: 'changes [portfolio]',
  describe: 'What changed: what new answers say otherwise than those before them, company by company',
  builder: (yargs) =>
    yargs
      .positional('portfolio', { type: 'string', describe: 'Its name, or its file (default: all)' })
      .option('since', {
        type: 'string',
        requiresArg: true,
        describe: 'A day (2026-01-31), a run and what came after it, or `next_since` of the look before',
      })
      .option('sandbox', onlySandboxOption)
      .option('all', { type: 'boolean', default: false, describe: 'Also what does not matter by the pipeline' })
      .option('raw', {
        type: 'string',
        requiresArg: true,
        describe: 'Print one raw answer, by its SHA-256 or the first digits of it',
      })
      .example('$0 changes --since 2026-01-31', 'what matters since that day')
      .example('$0 changes clients --json --since change:120', 'for loaders: all that came after')
      .epilogue(
        'What matters is `changes.important` of the pipeline. docs/portfolio.md tells how to load changes elsewhere.',
      ),
  async run(args, io) {
    const { dataDir, json, portfolio, since, sandbox, all, raw } = args;
    if (raw !== undefined) {
      const { rawAnswer } = await import('../../app/portfolio/changes.js');
      const { rawSha256, body } = await rawAnswer({ dataDir, sha256: raw }, appEnvironment(io));
      const text = body.toString('utf8');
      if (json) printJson(io, { raw_sha256: rawSha256, body: text });
      else io.stdout(`${text}\n`);
      return ExitCode.ok;
    }
    const { changes } = await import('../../app/portfolio/changes.js');
    const view = await changes({ dataDir, portfolio, since, sandbox }, appEnvironment(io));
    const again = `${portfolio === undefined ? '' : ` ${shellWord(portfolio)}`}${all ? ' --all' : ''}${lookFlags(args)}`;
    printResult(
      io,
      { json },
      () => changesToJson(view),
      () => changesInWords(view, all, { place: placeFlags(args), again }),
    );
    return ExitCode.ok;
  },
};

type Field = ChangedItem['fields'][number];

/** What goes into commands that lead on: where the ledger is, and what was asked for. */
interface Flags {
  readonly place: string;
  readonly again: string;
}

/** Company by company, those with something that matters first. Without `all` only what matters. */
function changesInWords(view: ChangesView, all: boolean, { place, again }: Flags): readonly Message[] {
  const companies = [...groupByMember(view.changes).values()];
  const shown = companies.filter((changes) => all || changes.some(matters));
  const inOrder = [
    ...shown.filter((changes) => changes.some(matters)),
    ...shown.filter((changes) => !changes.some(matters)),
  ];
  const left = linesOf(view, true) - linesOf(view, all);
  return [
    ...inOrder.map((changes) => message('COMPANY_CHANGED', [...companyInWords(changes, all, place), ''].join('\n'))),
    ...(view.changes.length === 0 && view.notCompared === 0
      ? [message('NOTHING_CHANGED', 'Nothing has changed.')]
      : []),
    ...(view.notCompared === 0 ? [] : [message('CHANGES_NOT_COMPARED', notComparedInWords(view.notCompared))]),
    ...(left === 0
      ? []
      : [
          message(
            'CHANGES_NOT_SHOWN',
            `${count(left, 'change')} that ${left === 1 ? 'does' : 'do'} not matter by the pipeline: --all shows ${left === 1 ? 'it' : 'them'}.`,
          ),
        ]),
    ...(view.more ? [message('CHANGES_NEXT', `There is more: kybatch changes${again} --since ${view.nextSince}`)] : []),
  ];
}

const notComparedInWords = (answers: number): string =>
  `${count(answers, 'new answer')} ${answers === 1 ? 'is' : 'are'} not compared with the one before yet. The next \`kybatch run\` does that, free.`;

/** Each line that is shown is a change: what is left out is counted by what `--all` would show. */
const linesOf = ({ changes }: ChangesView, all: boolean): number =>
  changes
    .flatMap(({ items }) => items)
    .reduce((sum, item) => sum + (isShown(item, all) ? itemInWords(item, all).length : 0), 0);

const isImportant = ({ fields }: ChangedItem): boolean => fields.some(({ important }) => important);
const matters = ({ items }: ChangeView): boolean => items.some(isImportant);
const isShown = (item: ChangedItem, all: boolean): boolean => all || isImportant(item);

function groupByMember(changes: readonly ChangeView[]): ReadonlyMap<number, readonly ChangeView[]> {
  const groups = new Map<number, ChangeView[]>();
  for (const change of changes) groups.set(change.memberId, [...(groups.get(change.memberId) ?? []), change]);
  return groups;
}

function companyInWords(changes: readonly ChangeView[], all: boolean, place: string): readonly string[] {
  const [first] = changes;
  if (first === undefined) return [];
  const { name, ids, row, line, inputId, portfolio } = first;
  const where = [
    inputId === null ? '' : `id ${shortened(inputId)}`,
    row === null ? 'not in the list any more' : rowInWords(row, line),
    portfolio,
  ];
  return [
    `${shortened(name ?? ids.v1 ?? ids.v2 ?? 'a company')} (${where.filter((part) => part !== '').join(', ')})`,
    ...changes.flatMap((change) => answerInWords(change, all, place)),
  ];
}

/** What one answer says otherwise, and how to see it and the one before. */
function answerInWords({ items, changedAt }: ChangeView, all: boolean, place: string) {
  const shown = [...items.filter(isImportant), ...items.filter((item) => !isImportant(item))].filter((item) =>
    isShown(item, all),
  );
  if (shown.length === 0) return [];
  const raw = (sha256: string) => `kybatch changes --raw ${sha256.slice(0, 16)}${place}`;
  return [
    ...shown.flatMap((item) =>
      itemInWords(item, all).map((words) => `  ${inUtc(changedAt, 10).slice(0, 10)}  ${words}`),
    ),
    // A list that did not come the last time is compared with an earlier answer than the rest; one may have several pages.
    ...new Set(
      shown.map(({ oldRawSha256, newRawSha256 }) => `              raw: ${raw(oldRawSha256)} → ${raw(newRawSha256)}`),
    ),
  ];
}

function itemInWords({ fields }: ChangedItem, all: boolean): readonly string[] {
  const [first] = fields;
  if (first === undefined) return [];
  if (first.column === null) return [`${first.table}: ${first.kind} ${labelOf(fields)}`];
  return fields
    .filter(({ important }) => all || important)
    .map(
      (field) =>
        `${whereOf(field)}: ${shownValue(field.oldValue)} → ${shownValue(field.newValue)}${field.kind === 'respelled' ? ' (respelled)' : ''}`,
    );
}

/** Who came or went: by name where there is one. */
function labelOf(fields: readonly Field[]): string {
  const cells = new Map(Object.entries(fields[0]?.key ?? {}).map(([column, value]) => [column, String(value ?? '')]));
  for (const { column, oldValue, newValue } of fields)
    if (column !== null) cells.set(column, newValue ?? oldValue ?? '');
  const named = (...columns: string[]) => columns.flatMap((column) => cells.get(column) || []).join(' ');
  const name = named('first_name', 'last_name') || named('name') || named('text') || keyWords(fields[0]);
  const more = ['job_title', 'percentage', 'value'].flatMap((column) =>
    cells.get(column) ? `${column} ${cells.get(column)}` : [],
  );
  return shortened([name, ...more].join(', '));
}

/** `companies.status`, or which of the lines of its table. */
const whereOf = (field: Field): string =>
  SINGLE.has(field.table) || Object.hasOwn(field.key, field.column ?? '')
    ? `${field.table}.${field.column}`
    : `${field.table} ${keyWords(field)}, ${field.column}`;

/** Their key is the company itself. */
const SINGLE: ReadonlySet<string> = new Set(['companies', 'credit_reports']);

const keyWords = (field: Field | undefined): string => {
  const { operation: _, ...key } = field?.key ?? {};
  return shortened(
    Object.values(key)
      .filter((value) => value !== null)
      .join(' '),
  );
};

const shownValue = (value: string | null): string =>
  value === null ? '(nothing)' : value === '' ? '""' : shortened(value);

/** Whatever a provider or a file wrote: one line, and not a long one. */
const shortened = (text: string): string => {
  const line = sanitizeText(text);
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
};

const changesToJson = (view: ChangesView) => ({
  changes: view.changes.flatMap((change) =>
    change.items.flatMap(({ fields, oldRawSha256, newRawSha256 }) =>
      fields.map((field) => ({
        changed_at: iso(change.changedAt),
        portfolio: change.portfolio,
        row: change.row,
        line: change.line,
        input_id: change.inputId,
        v1_company_id: change.ids.v1 ?? null,
        v2_company_id: change.ids.v2 ?? null,
        table: field.table,
        key: field.key,
        column: field.column,
        kind: field.kind,
        old_value: field.oldValue,
        new_value: field.newValue,
        old_raw_sha256: oldRawSha256,
        new_raw_sha256: newRawSha256,
        run: change.runId,
        important: field.important,
      })),
    ),
  ),
  next_since: view.nextSince,
  more: view.more,
  not_compared: view.notCompared,
});
