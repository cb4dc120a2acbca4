import { prospecting } from '../../api/v2/operations/prospecting.js';
import type { CallOutcome } from '../../calls/outcome.js';
import { KybatchError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { type Prospect, readProspectPage } from '../../readers/prospects.js';
import type { RawAnswer } from '../../readers/reader.js';
import { listNotReturned } from '../../stages/page-notes.js';
import { askPages } from '../../stages/pages.js';
import type { StageOutcome } from '../../stages/stage.js';
import { type AskDoor, type AskTerms, noAnswerError } from '../ask-door.js';
import { answerAsRead } from './answer-as-read.js';

export interface Collected {
  /** Each once, in the order in which they came. */
  readonly prospects: readonly Prospect[];
  /** Pages that were read. */
  readonly pages: number;
  /** As the last page counts them; null: it does not say. */
  readonly totalCompanies: number | null;
  readonly totalPages: number | null;
  /** The provider counts more pages than were read (V2-20), or does not count them and the last that was read was full. */
  readonly isPart: boolean;
  /** Companies that came once more. */
  readonly repeated: number;
  /** What was odd. */
  readonly notes: readonly string[];
}

interface CollectOptions {
  readonly onPage?: ((page: number) => void) | undefined;
  readonly includeContacts?: boolean | undefined;
}

/** The pages of prospecting, one after the other, by the rule that holds for all lists. */
export async function collectProspects(
  params: Readonly<Record<string, unknown>>,
  pagesAtMost: number,
  { ask }: AskDoor,
  terms: AskTerms,
  { onPage = () => {}, includeContacts = false }: CollectOptions = {},
): Promise<Collected> {
  const operation = prospecting.prospecting;
  const read: RawAnswer[] = [];
  const notes: string[] = [];
  let last: CallOutcome | undefined;
  const context: Parameters<typeof askPages>[3] = {
    call: async (_, asked, { notBefore = 0 } = {}) => {
      last = await ask(operation, asked, { notBefore });
      if (last.kind !== 'answer') return last;
      read.push(answerAsRead(operation, asked, last));
      onPage(read.length);
      return last;
    },
    owned: async () => undefined,
    keepError: ({ code, message }) => {
      // Whether it is a part is told with more than that.
      if (code !== 'PAGES_LEFT') notes.push(message);
    },
  };
  const outcome = await askPages(operation, params, pagesAtMost, context, terms);
  if (outcome.kind !== 'pages')
    throw last === undefined || last.kind === 'answer' ? notRead(outcome) : noAnswerError(last, operation);
  if (!outcome.came) notes.push(listNotReturned(operation));
  const pages = read.map((answer, index) => readProspectPage(answer, index + 1, includeContacts));
  const unnamed = pages.reduce((sum, page) => sum + page.unnamed, 0);
  if (unnamed > 0) notes.push(`Left out, because the provider gave no ID: ${unnamed}. The raw answer has them.`);
  const all = pages.flatMap(({ prospects }) => prospects);
  const prospects = firstOfEach(all);
  const { totalCompanies = null, totalPages = null, prospects: onLast = [] } = pages.at(-1) ?? {};
  const isFull = pages.length >= pagesAtMost && onLast.length > 0;
  return {
    prospects,
    pages: pages.length,
    totalCompanies,
    totalPages,
    isPart: totalPages === null ? isFull : totalPages > pages.length,
    repeated: all.length - prospects.length,
    notes,
  };
}

/** A list that moves while it is read has somebody on two pages. */
function firstOfEach(all: readonly Prospect[]): readonly Prospect[] {
  const first = new Map<string, Prospect>();
  for (const one of all) if (!first.has(one.id)) first.set(one.id, one);
  return [...first.values()];
}

/** A page that came and is none. */
function notRead(outcome: StageOutcome): KybatchError {
  const message = 'message' in outcome ? outcome.message : outcome.kind;
  return new KybatchError(message, {
    code: 'UNREADABLE',
    hint: 'The same command asks for this page again.',
    exit: ExitCode.unavailable,
  });
}
