export { readInput } from './read-input.js';
export type {
  InputEncoding,
  InputField,
  InputFields,
  InputOptions,
  InputRow,
  InputTable,
  RowProblem,
  RowProblemCode,
} from './types.js';
export { INPUT_FIELDS } from './types.js';
