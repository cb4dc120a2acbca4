// Markup that escapes every value, and graphics drawn in it as SVG. The page and the report share them.

import { escapeControlCharacters } from './sanitize-text.js';

/** Text that is markup already. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** A value in markup. False, null and undefined are left out. */
export type Markup = Html | string | number | false | null | undefined | readonly Markup[];

/** html`<b>${name}</b>`: every value is escaped, unless `html` made it. Attribute values must stand in quotes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Markup[]): Html {
  let text = strings[0] ?? '';
  for (const [index, part] of parts.entries()) text += escaped(part) + (strings[index + 1] ?? '');
  return new Html(text);
}

function escaped(part: Markup): string {
  if (part instanceof Html) return part.toString();
  if (Array.isArray(part)) return part.map(escaped).join('');
  if (part === false || part === null || part === undefined) return '';
  return escapeControlCharacters(String(part)).replaceAll(/[&<>"'`]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

/** The parts with something between them. Empty parts are left out. */
export const joined = (parts: readonly Markup[], between: Markup): Html => {
  const shown = parts.filter((part) => part !== false && part !== null && part !== undefined && part !== '');
  return html`${shown.map((part, index) => (index === 0 ? part : html`${between}${part}`))}`;
};

/** The state that colours a shape. The words beside it say the same. */
export type Tone = 'ok' | 'warn' | 'bad' | Shade;

/** Shades that tell series apart and stand for no state. */
export const SHADES = ['accent', 'bar', 'shade3', 'shade4', 'shade5', 'shade6'] as const;
type Shade = (typeof SHADES)[number];

interface SparkBar {
  readonly value: number;
  readonly tone: Tone;
  /** Shown when the pointer rests on it, and read aloud. */
  readonly title: string;
}

/** A row of small bars. The height follows the square root, so that small nights stay visible. */
export function sparkBars(bars: readonly SparkBar[], label: string): Html {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const [step, height] = [5, 20];
  return html`<svg class="spark" role="img" aria-label="${label}" width="${Math.max(1, bars.length) * step}" height="${height}">${bars.map(
    ({ value, tone, title }, at) => {
      const tall = Math.max(3, Math.round(Math.sqrt(value / most) * height));
      return html`<rect class="${tone}" x="${at * step}" y="${height - tall}" width="4" height="${tall}" rx="1"><title>${title}</title></rect>`;
    },
  )}</svg>`;
}

export interface Share {
  readonly value: number;
  readonly tone: Tone | 'line';
  readonly title: string;
}

/** One bar that is divided into shares. */
export function shareBar(shares: readonly Share[], label: string): Html {
  const total = shares.reduce((sum, { value }) => sum + value, 0) || 1;
  let x = 0;
  return html`<svg class="shares" role="img" aria-label="${label}" viewBox="0 0 1000 10" preserveAspectRatio="none">${shares.map(
    ({ value, tone, title }) => {
      const width = (value / total) * 1000;
      x += width;
      return html`<rect class="${tone}" x="${round(x - width)}" y="0" width="${round(width)}" height="10"><title>${title}</title></rect>`;
    },
  )}</svg>`;
}

export interface Series {
  readonly name: string;
  readonly tone: Tone;
  /** One for each label. Null: not returned. */
  readonly values: readonly (number | null)[];
  /** The exact text of each value. */
  readonly texts: readonly (string | null)[];
}

/** Bars over years or days, one group for each label, with an axis that includes zero. `stacked`: on each other. */
export function barChart(labels: readonly string[], series: readonly Series[], label: string, stacked = false): Html {
  const sums = labels.map((_, at) => series.reduce((sum, { values }) => sum + Math.max(0, values[at] ?? 0), 0));
  const { slot, middle, y, drawn } = chartOf(labels, series, label, stacked ? sums : undefined);
  const each = stacked ? Math.min(48, slot * 0.6) : Math.min(40, (slot * 0.72) / Math.max(1, series.length));
  const groups = labels.map((name, at) => {
    let base = 0;
    return series.map(({ values, texts, tone, name: of }, nth): Markup => {
      const value = values[at] ?? null;
      if (value === null || value === 0) return null;
      const from = stacked ? base : 0;
      if (stacked) base += value;
      const [above, below] = [y(Math.max(from, from + value)), y(Math.min(from, from + value))];
      const x = stacked ? middle(at) - each / 2 : middle(at) - (each * series.length) / 2 + nth * each;
      return html`<rect class="${value < 0 ? 'bad' : tone}" x="${round(x)}" y="${above}" width="${round(each - (stacked ? 0 : 2))}" height="${Math.max(1, below - above)}" rx="2"><title>${name}: ${of} ${texts[at] ?? value}</title></rect>`;
    });
  });
  return drawn(groups);
}

/** Lines over years, with an axis that includes zero. A value that was not returned interrupts its line. */
export function lineChart(labels: readonly string[], series: readonly Series[], label: string): Html {
  const { middle, y, drawn } = chartOf(labels, series, label);
  const x = (at: number) => round(middle(at));
  const lines = series.map(({ values, texts, tone, name }) => {
    const path = values
      .map((value, at) =>
        value === null ? '' : `${(values[at - 1] ?? null) === null ? 'M' : 'L'}${x(at)} ${y(value)}`,
      )
      .join('');
    const dots = values.map(
      (value, at) =>
        value !== null &&
        html`<circle class="${tone}" cx="${x(at)}" cy="${y(value)}" r="3.5"><title>${labels[at]}: ${name} ${texts[at] ?? value}</title></circle>`,
    );
    return html`<path class="trace ${tone}" d="${path}"/>${dots}`;
  });
  return drawn(lines);
}

/** The places of a chart's labels and values, and the whole chart around its shapes. */
function chartOf(
  labels: readonly string[],
  series: readonly Series[],
  label: string,
  figures = series.flatMap(({ values }) => values.map((value) => value ?? 0)),
) {
  const [width, height, left, bottom, top] = [560, 210, 52, 24, 16];
  const all = [0, ...figures];
  const ticks = ticksBetween(Math.min(...all), Math.max(...all), all.every(Number.isInteger));
  const [low = 0, high = 1] = [ticks[0], ticks.at(-1)];
  const slot = (width - left) / Math.max(1, labels.length);
  const middle = (at: number) => left + slot * at + slot / 2;
  const y = (value: number) => round(top + ((high - value) / (high - low || 1)) * (height - top - bottom));
  const axis = ticks.map(
    (tick) =>
      html`<line class="axis" x1="${left}" x2="${width}" y1="${y(tick)}" y2="${y(tick)}"/><text class="d" x="${left - 8}" y="${y(tick) + 4}" text-anchor="end">${compactNumber(tick)}</text>`,
  );
  // Labels that would overlap are left out.
  const names = labels.map(
    (name, at) =>
      at % Math.ceil(labels.length / 8) === 0 &&
      html`<text class="d" x="${round(middle(at))}" y="${height - 6}" text-anchor="middle">${name}</text>`,
  );
  const drawn = (shapes: Markup): Html =>
    html`<svg class="chart" role="img" aria-label="${label}" viewBox="0 0 ${width} ${height}">${axis}${shapes}${names}</svg>${series.length > 1 && legend(series)}`;
  return { slot, middle, y, drawn };
}

const legend = (series: readonly Series[]): Html =>
  html`<p class="legend">${series.map(({ name, tone }) => html`<span><svg width="10" height="10" aria-hidden="true"><rect class="${tone}" width="10" height="10" rx="2"/></svg> ${name}</span>`)}</p>`;

/** Round figures that enclose both ends, four to six of them. */
function ticksBetween(low: number, high: number, isWhole: boolean): readonly number[] {
  const span = high - low || 1;
  const smallest = 10 ** Math.floor(Math.log10(span / 4));
  const magnitude = isWhole ? Math.max(1, smallest) : smallest;
  const step = [1, 2, 5, 10].map((factor) => factor * magnitude).find((size) => span / size <= 5) ?? 10 * magnitude;
  const first = Math.floor(low / step);
  const last = Math.max(first + 1, Math.ceil(high / step));
  return Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step);
}

/** 1.2 M */
const compactNumber = (value: number): string =>
  new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 }).format(value);

const round = (value: number): number => Math.round(value * 100) / 100;
