import { stagesOf } from '../config/pipeline.js';
import type { Question } from '../review/questions.js';
import type { QuestionsLedger } from './runs-asking.js';
import { findSettings } from './stored-settings.js';

/** Names the pipeline of questions that the one which was run last does not ask: the newest of their list that does. */
export async function withAskingPipelines(
  questions: readonly Question[],
  { runs }: Pick<QuestionsLedger, 'runs'>,
): Promise<readonly Question[]> {
  if (!questions.some(({ beside }) => beside)) return questions;
  const newestFirst = (await runs.all()).toSorted((a, b) => b.createdAt - a.createdAt);
  const askedBy = ({ rows, space, stage }: Question): string | undefined => {
    const list = newestFirst.find(({ id }) => id === rows[0]?.runId)?.portfolioId;
    for (const run of newestFirst.filter(({ portfolioId }) => portfolioId !== null && portfolioId === list)) {
      const pipeline = findSettings(run)?.pipeline;
      const asks = (one: { readonly name: string; readonly space: string }) =>
        stage === null ? one.space === space : one.name === stage;
      if (pipeline !== undefined && stagesOf(pipeline).some(asks)) return run.pipelineName;
    }
    return undefined;
  };
  return questions.map((question) => (question.beside ? { ...question, askedBy: askedBy(question) } : question));
}
