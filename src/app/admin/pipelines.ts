import { loadPipeline } from '../../config/pipeline.js';
import { pipelineNames } from '../../config/user-files.js';
import { UsageError } from '../../domain/errors.js';
import type { AppEnvironment } from '../environment.js';

export interface PipelineView {
  readonly name: string;
  readonly description: string;
  readonly stages: readonly string[];
  readonly problem?: string | undefined;
}

/** Every pipeline that can be given by name: those of the working directory and those that ship with kybatch. */
export const pipelines = ({ cwd }: AppEnvironment): readonly PipelineView[] =>
  pipelineNames(cwd).map((name) => {
    try {
      const { description, stages } = loadPipeline(name, cwd);
      return { name, description, stages };
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      return { name, description: '', stages: [], problem: `cannot be used: ${error.message}` };
    }
  });
