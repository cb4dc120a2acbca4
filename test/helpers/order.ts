import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** They take longest, which their size does not show. */
const LONGEST =
  /\/(postgres\/(work|claims)|ledger\/(postgres|sqlite)|web\/start|formats\/graph|cli\/(night-check|golden)|app\/bought-again)\.test\.ts$/;
/** They wait for PostgreSQL now and then: others use that time. */
const WAITING = /\/postgres\/|\/ledger\/copy|\/ledger-copy/;

/**
 * The order in which files are taken, also on a machine that has run nothing yet: the longest first, so that none is left
 * over at the end; then the others, with those that wait spread among them.
 */
export class Order extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const longest = sorted.filter(({ moduleId }) => LONGEST.test(moduleId));
    const rest = sorted.filter((file) => !longest.includes(file));
    const waiting = rest.filter(({ moduleId }) => WAITING.test(moduleId));
    const others = rest.filter((file) => !waiting.includes(file));
    return [...longest, ...spread(waiting, others)];
  }
}

/** So many of those, one of these, and so on; those are the last. */
function spread<T>(these: readonly T[], those: readonly T[]): T[] {
  const between = Math.ceil(those.length / (these.length + 1));
  return Array.from({ length: these.length + 1 }, (_, index) => [
    ...those.slice(index * between, (index + 1) * between),
    ...these.slice(index, index + 1),
  ]).flat();
}
