import { status } from '../../app/status.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { suggestCommand } from '../terminal/commands.js';
import { statusInWords, statusToJson } from '../terminal/status-words.js';
import type { CommonArgs, Verb } from '../verb.js';

interface StatusArgs extends CommonArgs {
  readonly run: string | undefined;
}

export const statusVerb: Verb<StatusArgs> = {
  command: 'status [run]',
  describe: 'One run: counts, stages, units, speed, and what it waits for; also while it is at work',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', describe: 'The run (default: the newest)' })
      .example('$0 status', 'the newest run'),
  async run({ dataDir, run, json }, io) {
    const view = await status({ dataDir, run }, aroundOf(io));
    const next = view.next === null ? undefined : suggestCommand(view.next, { dataDir, sandbox: view.sandbox });
    if (json) io.stdout(`${JSON.stringify({ ...statusToJson(view), ...(next && { next: next.command }) })}\n`);
    else io.stderr(`${statusInWords(view)}${next === undefined ? '' : `${next.words}: ${next.command}\n`}`);
    return ExitCode.ok;
  },
};
