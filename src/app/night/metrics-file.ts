import type { LoadedPipeline } from '../../config/pipeline.js';
import type { Ledger } from '../../ledger/ledger.js';
import { ledgerBytes } from '../../ledger/open-ledger.js';
import { redact } from '../../util/secret.js';
import { writeWhole } from '../../util/whole-file.js';
import { fileTarget } from '../file-target.js';
import { freeSpace } from '../free-space.js';
import type { ProviderNames } from '../provider.js';
import { pathIn, type Surroundings } from '../surroundings.js';
import { figuresOf, type Measured, type TellingStart } from './figures.js';
import { metricsText } from './metrics-text.js';

const MINUTE_MS = 60_000;

/** Figures for a monitor, in a file. That they cannot be written is told once, and fails nothing. */
export class MetricsFile {
  readonly #path: string;
  readonly #dataDir: string;
  readonly #around: Surroundings;
  /** Units that were charged before the start that is followed. */
  #unitsBefore: number | undefined;
  #told = false;
  #isFollowed = false;

  private constructor(path: string, dataDir: string, around: Surroundings) {
    this.#path = path;
    this.#dataDir = dataDir;
    this.#around = around;
  }

  /** Null where the pipeline names none. A place that is not free is refused, before anything is spent. */
  static of(
    { metrics, file }: Pick<LoadedPipeline, 'metrics' | 'file'>,
    input: string,
    dataDir: string,
    around: Surroundings,
  ): MetricsFile | null {
    if (metrics === null) return null;
    const path = fileTarget(pathIn(around, metrics.file), dataDir, around, [input, file], 'metrics.file');
    return new MetricsFile(path, dataDir, around);
  }

  async write(ledger: Ledger, names: ProviderNames, start: TellingStart | null): Promise<void> {
    try {
      const measured = await this.#measure(ledger, start);
      const figures = await figuresOf(ledger, names, start, measured, this.#around.clock.now());
      // A monitor reads it as another user.
      await writeWhole(this.#path, redact(metricsText(figures)), 0o666);
    } catch (error) {
      if (this.#told) return;
      this.#told = true;
      this.#around.onNote?.(`metrics.file ${this.#path} cannot be written: ${(error as Error).message}`);
    }
  }

  /** All calls are looked through once, and not every minute: only this start adds to them, unless others may. */
  async #measure({ reading, jobs }: Ledger, start: TellingStart | null): Promise<Measured> {
    const spent = start === null ? 0 : (await reading.spent(start.startId)).units;
    if (this.#unitsBefore === undefined || start?.atWork !== true || jobs !== undefined)
      this.#unitsBefore = (await reading.unitsCharged()) - spent;
    return {
      unitsCharged: this.#unitsBefore + spent,
      ledgerBytes: (await reading.databaseBytes()) ?? ledgerBytes(this.#dataDir),
      freeBytes: freeSpace(this.#dataDir, this.#around) ?? null,
    };
  }

  /** What was refused before it began has still a time, and lists that it leaves as they are. */
  async writeUnlessFollowed(ledger: Ledger, names: ProviderNames): Promise<void> {
    if (!this.#isFollowed) await this.write(ledger, names, null);
  }

  /** Writes every minute what a start has come to, and once more when it has ended: the one who began it says so. */
  follow(ledger: Ledger, names: ProviderNames, known: () => Omit<TellingStart, 'atWork'> | null): () => Promise<void> {
    const over = new AbortController();
    this.#isFollowed = true;
    const write = async (atWork: boolean) => {
      const start = known();
      await this.write(ledger, names, start && { ...start, atWork });
    };
    const going = this.#everyMinute(() => write(true), over.signal);
    return async () => {
      over.abort();
      await going;
      await write(false);
    };
  }

  async #everyMinute(write: () => Promise<void>, over: AbortSignal): Promise<void> {
    const isOver = () => over.aborted;
    while (!isOver()) {
      await this.#around.clock.sleep(MINUTE_MS, over).catch(() => {});
      if (!isOver()) await write();
    }
  }
}
