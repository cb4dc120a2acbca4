/** One figure, as a monitor reads it. */
export interface Metric {
  readonly name: string;
  /** What it says, in a sentence. */
  readonly help: string;
  /** It only rises, over all starts. Without it, a gauge. */
  readonly isTotal?: boolean;
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The text format of Prometheus. What a start counts is a gauge, too: the next one counts from nought again. */
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

function labelsInText(labels: Sample['labels']): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
