import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** These files take longest, although they are small. */
const LONGEST =
  /\/(postgres\/(work|claims)|ledger\/(postgres|sqlite)|web\/start|formats\/graph|cli\/(night-check|golden)|app\/bought-again)\.test\.ts$/;
/** These files wait for PostgreSQL now and then. Other files use that time. */
const WAITING = /\/postgres\/|\/ledger\/copy|\/ledger-copy/;

/**
 * The order of the files, also on a machine that has run no test yet. The longest come first, so that none is left at
 * the end. Files that wait are spread among the others.
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

/** Spreads `these` evenly among `those`, and ends with `those`. */
function spread<T>(these: readonly T[], those: readonly T[]): T[] {
  const between = Math.ceil(those.length / (these.length + 1));
  return Array.from({ length: these.length + 1 }, (_, index) => [
    ...those.slice(index * between, (index + 1) * between),
    ...these.slice(index, index + 1),
  ]).flat();
}
