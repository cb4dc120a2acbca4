import type { Issue } from '../readers/reader.js';
import type { Outputs } from './outputs.js';
import { issueRow } from './run-rows.js';

/** How many places in answers are not in the tables as they should be. */
export interface IssueCounts {
  /** Places of an unexpected form. */
  readonly unexpectedShapes: number;
  /** Companies or reports that could not be read at all. */
  readonly unread: number;
}

/** Issues of readers as rows of the table `errors`, counted. */
export class IssueRows {
  readonly #outputs: Outputs;
  #issues = 0;
  #unread = 0;

  constructor(outputs: Outputs) {
    this.#outputs = outputs;
  }

  write(issues: readonly Issue[]): void {
    const before = this.#outputs.count('errors');
    const rows = issues.map((issue, index) => issueRow(issue, before + index + 1));
    this.#outputs.write('errors', rows);
    this.#issues += issues.length;
    this.#unread += issues.filter(({ unread }) => unread === true).length;
  }

  get counts(): IssueCounts {
    return { unexpectedShapes: this.#issues - this.#unread, unread: this.#unread };
  }
}
