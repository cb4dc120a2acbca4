import { message } from '../../util/message-parts.js';
import { register } from '../command.js';
import { appEnvironment, printResult } from '../terminal/io.js';
import { block } from '../terminal/view.js';

export const pipelinesCommand = register({
  command: 'pipelines',
  describe: 'List the pipelines, and what each of them buys',
  async run(_args, io) {
    const { pipelines } = await import('../../app/admin/pipelines.js');
    const found = pipelines(appEnvironment(io));
    printResult(io, { pipelines: found }, [
      block(
        'PIPELINES',
        found.map(({ name, description, stages, problem }) => [
          name,
          `  ${problem ?? description}`,
          stages.length > 0 && `  buys: ${stages.join(', ')}`,
        ]),
      ),
      message('PIPELINE_NEXT', '\nYour own pipeline: --pipeline ./mine.yaml, or its name if it is in ./pipelines.'),
    ]);
  },
});
