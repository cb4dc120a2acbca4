import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import type { Sandbox } from '../../src/sandbox/index.js';
import { wholeCompanies } from '../engine/support.js';
import type { Dice, Feed } from './nights.js';

const HEADER = ['id', 'name', 'country', 'registration_number', 'note'];
type Line = readonly [id: string, name: string, country: string, number: string, note: string];

/** A maintained list of companies: it changes a little every night, and some nights it is broken. */
export class Portfolio {
  readonly path: string;
  readonly #pool: readonly Line[];
  readonly #dice: Dice;
  #lines: Line[];
  #edits = 0;

  constructor(folder: string, sandbox: Sandbox, size: number, dice: Dice) {
    this.path = join(folder, 'portfolio.csv');
    this.#dice = dice;
    const good = wholeCompanies(sandbox, size * 4).map(
      ({ name, countryCode, registrationNumber }, index): Line => [
        `C${index}`,
        name,
        countryCode,
        registrationNumber ?? '',
        '',
      ],
    );
    const odd: Line[] = [
      ['X1', 'Nobody Knows This Company', 'GB', '00000001', ''],
      ['X2', 'Without A Country', '', '123', ''],
      ...good.slice(0, 8).map(([id, name], index): Line => {
        const [, , country = '', number = ''] = good[index + 8] ?? [];
        return [`X-${id}`, name, country, number, 'name of another'];
      }),
    ];
    this.#pool = [...good, ...odd];
    this.#lines = this.#pool.slice(0, size);
    this.#write(this.#lines);
  }

  deliver(feed: Feed): void {
    if (feed === 'gone') rmSync(this.path, { force: true });
    else if (feed === 'rubbish') writeFileSync(this.path, Buffer.from([0, 1, 2, 0xff, 0xfe, 0, 0, 0x80, 10, 13, 34]));
    else this.#write(this.#linesOf(feed));
  }

  #linesOf(feed: Exclude<Feed, 'gone' | 'rubbish'>): readonly Line[] {
    const index = this.#dice.upTo(this.#lines.length);
    switch (feed) {
      case 'same':
        return this.#lines;
      case 'header only':
        return [];
      case 'half':
        return this.#lines.slice(0, this.#lines.length / 2);
      case 'sorted':
        this.#lines.push(...this.#lines.splice(0, index));
        return this.#lines;
      case 'swapped': {
        const there = new Set(this.#lines.map(([id]) => id));
        this.#lines[index] = this.#dice.of(this.#pool.filter(([id]) => !there.has(id)));
        return this.#lines;
      }
      case 'edited': {
        const [id, name, country, number] = this.#lines[index] as Line;
        this.#edits += 1;
        this.#lines[index] = [id, name, country, number, `edit ${this.#edits}`];
        return this.#lines;
      }
    }
  }

  #write(lines: readonly Line[]): void {
    writeFileSync(this.path, stringify([HEADER, ...lines]));
  }
}
