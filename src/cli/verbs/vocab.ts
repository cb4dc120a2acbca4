import { ownedVocabularies, writeVocabularies } from '../../app/owned-vocabularies.js';
import { type VocabOptions, vocab } from '../../app/vocab.js';
import { UsageError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { type ProviderArgs, sandboxOption } from '../provider-flags.js';
import { plainFormatOption, readPlainFormats } from '../table-flags.js';
import { lookFlags } from '../terminal/commands.js';
import type { Io } from '../terminal/io.js';
import { count } from '../terminal/text.js';
import { itemsInWords, ownedInWords, ownedToJson, walkInWords, walkToJson } from '../terminal/vocab-words.js';
import { untilDrained } from '../until-drained.js';
import type { Verb } from '../verb.js';

interface VocabArgs extends ProviderArgs, Pick<VocabOptions, 'country' | 'parent' | 'search'> {
  readonly name: string | undefined;
  readonly all: boolean;
  readonly fresh: boolean;
  readonly out: string | undefined;
  readonly format: string | undefined;
}

const text = (describe: string) => ({ type: 'string', requiresArg: true, describe }) as const;

export const vocabVerb: Verb<VocabArgs> = {
  command: 'vocab [name]',
  describe: "List the provider's vocabularies, or the items of one: the names and IDs that filters take",
  builder: (yargs) =>
    yargs
      .positional('name', { type: 'string', describe: 'The vocabulary; without it, all and what is owned of each' })
      .option('country', text('Country of the vocabularies sic and states, e.g. GB'))
      .option('parent', text('ID of an item: what is one level below it'))
      .option('all', { type: 'boolean', default: false, describe: 'All levels of a tree, 2,000 lists at the most' })
      .option('search', text('Only items whose name holds this, on all levels'))
      .option('fresh', { type: 'boolean', default: false, describe: 'Ask anew although the lists are owned' })
      .option('out', text('Write the table `vocabularies` into this folder: all that is owned'))
      .option('format', plainFormatOption)
      .option('sandbox', sandboxOption)
      .example('$0 vocab', 'the vocabularies, and what is owned of each')
      .example('$0 vocab nace --search transport', 'where the word stands, on whichever level')
      .example('$0 vocab sic --country GB --all --out tables', 'a whole tree, and the table of it')
      .epilogue(
        'Lists are kept for a year. Names can be written instead of IDs in the filters of `kybatch prospect`. Exit code: 0 done, 2 usage, 4 the allowance is spent, 5 the key is refused, 6 the provider is down, 129/130/143 interrupted; the same command goes on.',
      ),
  async run(args, io) {
    const { name, dataDir, sandbox, out, json } = args;
    if (name === undefined) mustStandAlone(args);
    const formats = readPlainFormats(args);
    const code = name === undefined ? ExitCode.ok : await printItems({ ...args, name }, io);
    if (code !== ExitCode.ok) return code;
    const around = aroundOf(io);
    if (name === undefined) {
      const owned = await ownedVocabularies({ dataDir, sandbox }, around);
      io.stdout(json ? `${JSON.stringify(ownedToJson(owned))}\n` : ownedInWords(owned, lookFlags(args)));
    }
    if (out !== undefined) {
      const { folder, rows } = await writeVocabularies({ dataDir, sandbox, out, formats }, around);
      io.stderr(`The table vocabularies has ${count(rows, 'row')}, in ${folder}\n`);
    }
    return ExitCode.ok;
  },
};

const printItems = (args: VocabArgs & { readonly name: string }, io: Io): Promise<ExitCode> =>
  untilDrained(io, 'Stopped. What was read is kept: the same command goes on.', async (stoppable) => {
    const { name, country, parent, all, search, fresh, sandbox, dataDir, json } = args;
    const asked = { name, country, parent, all, search, fresh, sandbox, dataDir };
    const view = await vocab({ ...asked, ...stoppable }, aroundOf(io));
    io.stdout(json ? `${JSON.stringify(walkToJson(view))}\n` : itemsInWords(view));
    io.stderr(walkInWords(view));
    return ExitCode.ok;
  });

/** Flags that say what of a vocabulary is wanted, and no vocabulary. */
function mustStandAlone({ country, parent, search, all, fresh }: VocabArgs): void {
  const given = Object.entries({ country, parent, search, all: all || undefined, fresh: fresh || undefined });
  const flag = given.find(([, value]) => value !== undefined)?.[0];
  if (flag !== undefined)
    throw new UsageError(`--${flag} needs the name of a vocabulary`, '`kybatch vocab` alone lists them.');
}
