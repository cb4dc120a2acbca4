export interface Metric {
  readonly name: string;
  /** Its meaning, in a sentence. */
  readonly help: string;
  /** It only rises, over all attempts. Default: a gauge. */
  readonly isTotal?: boolean;
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The text format of Prometheus. An attempt's counts are gauges too, because the next attempt begins at 0. */
export const prometheusText = (metrics: readonly Metric[]): string =>
  metrics
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, isTotal = false, samples }) =>
      [
        `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
        `# TYPE ${name} ${isTotal ? 'counter' : 'gauge'}`,
        ...samples.map(({ labels, value }) => `${name}${labelsInText(labels)} ${value}`),
        '',
      ].join('\n'),
    )
    .join('');

export function labelsInText(labels: Sample['labels']): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
