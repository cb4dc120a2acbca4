import type { WorkerEvent, WorkerView } from '../../app/run/worker.js';
import { ExitCode } from '../../domain/errors.js';
import { type Message, message } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { count, moment, shortRun } from '../../util/words.js';
import { numberFlag, register, sandboxOption, switchFlag, textFlag } from '../command.js';
import { appEnvironment, InterruptListener, printResultAndWords } from '../terminal/io.js';
import { Outages } from '../terminal/progress.js';
import { view } from '../terminal/view.js';

export const workerCommand = register({
  command: 'worker',
  describe: 'Work on the runs of a PostgreSQL ledger, on any machine',
  builder: (yargs) =>
    yargs
      .option('once', switchFlag('End when nothing is left to do'))
      .option('concurrency', numberFlag('--concurrency', 'At most N calls at once to each API, of this worker'))
      .option(
        'out',
        textFlag('Also write parts of the tables that `run --out` or `export --out` writes to this shared folder'),
      )
      .option('sandbox', sandboxOption),
  async run(args, io) {
    const { dataDir, sandbox, once, concurrency, out } = args;
    const interrupts = new InterruptListener();
    interrupts.start(io);
    try {
      const outages = new Outages();
      const listen = (event: WorkerEvent) => {
        io.say(view(event.kind === 'news' ? outages.listen(event.event) : eventInWords(event)));
      };
      const { drain, abort } = interrupts;
      const { runWorker } = await import('../../app/run/worker.js');
      const worked = await runWorker(
        { dataDir, sandbox, once, concurrency, out, listen, drain, abort },
        appEnvironment(io),
      );
      printResultAndWords(io, workedJson(worked), endInWords(worked));
      if (interrupts.exitCode === undefined && worked.stopped !== undefined) throw worked.stopped;
      return interrupts.exitCode ?? ExitCode.ok;
    } finally {
      interrupts.stop();
    }
  },
});

function eventInWords(event: Exclude<WorkerEvent, { kind: 'news' }>): Message {
  if (event.kind === 'waiting')
    return message('WORKER_WAITING', ['Waiting for rows to work on.', ...event.putOff.map(laterInWords)].join(' '));
  if (event.kind === 'joined')
    return message('WORKER_JOINED', `Working on run ${shortRun(event.run)}: ${count(event.rows, 'row')} to do.`);
  return message('WORKER_LEFT', `Finished ${count(event.rows, 'row')} of run ${shortRun(event.run)}.`);
}

const endInWords = ({ runs, putOff }: WorkerView): readonly Message[] =>
  view(
    runs.map(({ run, rows }) =>
      message('ROWS_SETTLED', `✓ This worker finished ${count(rows, 'row')} of run ${shortRun(run)}.`, 'done'),
    ),
    runs.length === 0 && message('NOTHING_TO_WORK_ON', `No rows to work on${putOff.length === 0 ? '' : ' now'}.`),
    putOff.map((postponed) => message('RUN_GOES_ON_LATER', laterInWords(postponed))),
  );

const laterInWords = ({ run, until }: WorkerView['putOff'][number]): string =>
  `Run ${shortRun(run)} continues at ${moment(until)}.`;

const workedJson = ({ runs, parts, interrupted, stopped, putOff }: WorkerView) => ({
  runs,
  parts: parts > 0 ? parts : undefined,
  putOff: putOff.length > 0 ? putOff.map((postponed) => pick(postponed, 'run', 'until')) : undefined,
  interrupted,
  error: stopped === undefined ? null : pick(stopped, 'code', 'message'),
});
