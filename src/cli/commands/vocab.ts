import type { StoredVocabulary, VocabView } from '../../app/provider/vocabularies.js';
import { ExitCode, UsageError } from '../../domain/errors.js';
import { LISTS_AT_MOST } from '../../domain/vocabulary.js';
import { type Message, message } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { pick } from '../../util/view-json.js';
import { count, listed, moment, withCommas } from '../../util/words.js';
import {
  type ArgsOf,
  plainFormatOption,
  readPlainFormats,
  register,
  sandboxOption,
  switchFlag,
  textFlag,
} from '../command.js';
import { appEnvironment, type Io, printJson, printResult, untilDrained } from '../terminal/io.js';
import { lookFlags } from '../terminal/suggestions.js';
import { compactTable, textTable, view } from '../terminal/view.js';

const itemOptions = {
  country: textFlag('Country of the vocabularies sic and states, e.g. GB'),
  parent: textFlag('ID of an item: what is one level below it'),
  all: switchFlag('All levels of a tree, at most 2,000 lists'),
  search: textFlag('Only items whose name holds this, on all levels'),
  rebuy: switchFlag('Ask again even if the lists are stored'),
} as const;

type ItemArgs = ArgsOf<typeof itemOptions>;

export const vocabCommand = register({
  command: 'vocab [name]',
  describe: "List the provider's vocabularies, or the items of one",
  builder: (yargs) =>
    yargs
      .positional('name', { type: 'string', describe: 'The vocabulary (default: list all)' })
      .options(itemOptions)
      .option('out', textFlag('Write all stored lists as the table `vocabularies` into this folder'))
      .option('format', plainFormatOption)
      .option('sandbox', sandboxOption),
  async run(args, io) {
    const { name, dataDir, sandbox, out } = args;
    if (name === undefined) mustStandAlone(args);
    const formats = readPlainFormats(args.format);
    const code = name === undefined ? ExitCode.ok : await printItems({ ...args, name }, io);
    if (code !== ExitCode.ok) return code;
    const environment = appEnvironment(io);
    if (name === undefined) {
      const { ownedVocabularies } = await import('../../app/provider/vocabularies.js');
      const owned = await ownedVocabularies({ dataDir, sandbox }, environment);
      printResult(
        io,
        {
          vocabularies: owned.map(({ name, country = null, ...counts }) => ({
            name,
            country,
            ...pick(counts, 'tree', 'items', 'lists', 'oldestFetchedAt', 'newestFetchedAt'),
          })),
        },
        ownedInWords(owned, lookFlags(args)),
      );
    }
    if (out !== undefined) {
      const { writeVocabularies } = await import('../../app/provider/vocabularies.js');
      const { folder, rows } = await writeVocabularies({ dataDir, sandbox, out, formats }, environment);
      io.say(message('TABLES_WRITTEN', `The table vocabularies has ${count(rows, 'row')}, in ${folder}`));
    }
  },
});

const STOPPED = message('STOPPED', 'Stopped. Lists that were read are stored. The same command continues.');

const printItems = (args: ItemArgs & { readonly name: string; readonly sandbox: boolean }, io: Io): Promise<ExitCode> =>
  untilDrained(io, STOPPED, async (stoppable) => {
    const asked = pick(args, 'name', 'country', 'parent', 'all', 'search', 'sandbox', 'dataDir');
    const { vocab } = await import('../../app/provider/vocabularies.js');
    const found = await vocab({ ...asked, fresh: args.rebuy, ...stoppable }, appEnvironment(io));
    const notes = listsInWords(found);
    if (io.json) printJson(io, itemsJson(found), notes);
    else io.say(itemsInWords(found), 'stdout');
    io.say(notes);
    return ExitCode.ok;
  });

/** These flags need the name of a vocabulary. */
function mustStandAlone({ country, parent, search, all, rebuy }: ItemArgs): void {
  const given = Object.entries({ country, parent, search, all: all || undefined, rebuy: rebuy || undefined });
  const flag = given.find(([, value]) => value !== undefined)?.[0];
  if (flag !== undefined)
    throw new UsageError(
      'VOCABULARY_MISSING',
      `--${flag} needs the name of a vocabulary`,
      'List them: `kybatch vocab`',
    );
}

function ownedInWords(owned: readonly StoredVocabulary[], flags: string): Message {
  const lines = owned.map(({ name, country, tree, items, lists, oldestFetchedAt }) => [
    name,
    country ?? '',
    tree ? 'tree' : '',
    items,
    lists,
    oldestFetchedAt === null ? '–' : moment(oldestFetchedAt),
  ]);
  const table = compactTable(['vocabulary', 'country', '', 'items', 'lists', 'stored'], lines);
  return message(
    'VOCABULARIES',
    `${table}\nItems: kybatch vocab NAME${flags}\nFlags: --all for every level of a tree, --country for sic and states`,
  );
}

const yesOrNo = (flag: boolean | null): string => (flag === null ? '' : flag ? 'yes' : 'no');

const itemsInWords = ({ items }: VocabView): Message =>
  message(
    'VOCABULARY',
    textTable(
      ['id', 'name', 'parents', 'has_children', 'active'],
      items.map(({ id, name, parents, hasChildren, active, level }) => [
        id,
        `${'  '.repeat(level - 1)}${sanitizeText(name ?? '', 200)}`,
        parents ?? '',
        yesOrNo(hasChildren),
        yesOrNo(active),
      ]),
    ).trimEnd(),
  );

function listsInWords({ items, lists, complete, answers, oldestFetchedAt }: VocabView): readonly Message[] {
  const from = listed([
    answers.owned > 0 && `${withCommas(answers.owned)} stored since ${moment(oldestFetchedAt)} or later`,
    answers.sent > 0 && `${withCommas(answers.sent)} fetched now`,
  ]);
  return view(
    message(
      'VOCABULARY_READ',
      `${count(items.length, 'item')} of ${count(lists, 'list')}: ${from}. Lists are stored for a year. --rebuy fetches them again.`,
    ),
    !complete &&
      message(
        'VOCABULARY_PARTIAL',
        `! There are more: kybatch stopped after ${withCommas(LISTS_AT_MOST)} lists. Start lower with --parent ID.`,
        'attention',
      ),
  );
}

const itemsJson = ({ vocabulary, complete, answers, items, ...found }: VocabView) => ({
  vocabulary: vocabulary.name,
  country: vocabulary.country ?? null,
  ...pick(found, 'tree', 'lists'),
  boundReached: !complete,
  ...answers,
  oldestFetchedAt: found.oldestFetchedAt,
  items: items.map((item) => pick(item, 'id', 'name', 'parents', 'hasChildren', 'active', 'level')),
});
