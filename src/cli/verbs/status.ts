import type { GoOnStep } from '../../app/next-step.js';
import { status } from '../../app/status.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { givenFlags, placeFlags, suggestCommand } from '../terminal/commands.js';
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
      .positional('run', { type: 'string', describe: 'The run (default: the newest that was begun)' })
      .example('$0 status', 'the newest run'),
  async run({ dataDir, run, json }, io) {
    const view = await status({ dataDir, run }, aroundOf(io));
    const suggest = (step: GoOnStep) =>
      suggestCommand(step, { dataDir, sandbox: view.sandbox, ...givenFlags(view.given) });
    const next = view.next === null ? undefined : suggest(view.next);
    const further = view.further.map(suggest);
    if (json) {
      const commands = { ...(next && { next: next.command }), further: further.map(({ command }) => command) };
      io.stdout(`${JSON.stringify({ ...statusToJson(view), ...commands })}\n`);
      return ExitCode.ok;
    }
    io.stderr(statusInWords(view, placeFlags({ dataDir })));
    for (const { words, command } of [...further, ...(next === undefined ? [] : [next])])
      io.stderr(`${words}: ${command}\n`);
    return ExitCode.ok;
  },
};
