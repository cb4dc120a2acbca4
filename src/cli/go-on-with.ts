import { FileError, KybatchError, LedgerError } from '../domain/errors.js';

/** Work that the machine may break off: once it is well again, the command that its error names goes on with it. */
export async function goOnWith<T>(command: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isPassing(error) ? named(error, command) : error;
  }
}

/** Neither a defect nor a damaged ledger gets better by going on. */
const isPassing = (error: unknown): error is KybatchError =>
  (error instanceof LedgerError || error instanceof FileError) && !LASTING.has(error.code);

const LASTING: ReadonlySet<string> = new Set(['INTERNAL', 'LEDGER_DAMAGED']);

function named(error: KybatchError, command: string): KybatchError {
  const { message, code, hint = '', exit } = error;
  return new KybatchError(message, { code, hint: `${hint}\nGo on with: ${command}`.trim(), exit, cause: error });
}
