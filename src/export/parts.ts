import type { Judgement, Standing } from '../ledger/portfolios.js';
import { readers } from '../readers/list.js';
import type { Reader } from '../readers/reader.js';
import type { QuestionLines } from './formats/format.js';
import { type Formats, formats } from './formats/list.js';

/** What exports are made with. */
export interface ExportParts {
  readonly readers: readonly Reader[];
  readonly formats: Formats;
  /** What people are asked about the run's list; none where nobody has looked. */
  readonly questions?: QuestionLines;
  /** Told where a workbook lies that somebody had worked in. */
  readonly onKept?: (file: string) => void;
  /** Gives up the export; the one before it stays. */
  readonly signal?: AbortSignal | undefined;
  /** What a member needs now. */
  readonly judge: (standing: Standing) => Judgement;
}

const NOTHING_IS_DUE: Judgement = { due: null, nextAt: null };

export const ALL_PARTS: ExportParts = { readers, formats, judge: () => NOTHING_IS_DUE };
