import { expect, test } from 'vitest';
import { prometheusText } from '../../src/util/prometheus.js';

test('every metric has its help and its type, and labels are escaped', () => {
  const text = prometheusText([
    { name: 'a', help: 'One\\two\nthree.', samples: [{ labels: {}, value: 1.5 }] },
    { name: 'none', help: 'Nothing to say.', samples: [] },
    { name: 'b', help: 'B.', samples: [{ labels: { x: 'say "hi"\\\n', y: '' }, value: 0 }] },
  ]);
  expect(text).toBe(
    [
      '# HELP a One\\\\two\\nthree.',
      '# TYPE a gauge',
      'a 1.5',
      '# HELP b B.',
      '# TYPE b gauge',
      'b{x="say \\"hi\\"\\\\\\n",y=""} 0',
      '',
    ].join('\n'),
  );
});
