import { changes } from '../../app/changes.js';
import { rawAnswer } from '../../app/raw-answer.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { onlySandboxOption, type ProviderArgs } from '../provider-flags.js';
import { changesInWords, changesToJson } from '../terminal/change-words.js';
import { lookFlags, placeFlags } from '../terminal/commands.js';
import { shellWord } from '../terminal/text.js';
import type { Verb } from '../verb.js';

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
      const { rawSha256, body } = await rawAnswer({ dataDir, sha256: raw }, aroundOf(io));
      const text = body.toString('utf8');
      io.stdout(json ? `${JSON.stringify({ raw_sha256: rawSha256, body: text })}\n` : `${text}\n`);
      return ExitCode.ok;
    }
    const view = await changes({ dataDir, portfolio, since, sandbox }, aroundOf(io));
    const again = `${portfolio === undefined ? '' : ` ${shellWord(portfolio)}`}${all ? ' --all' : ''}${lookFlags(args)}`;
    io.stdout(
      json ? `${JSON.stringify(changesToJson(view))}\n` : changesInWords(view, all, { place: placeFlags(args), again }),
    );
    return ExitCode.ok;
  },
};
