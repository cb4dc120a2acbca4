import { expect, test } from 'vitest';
import { readSettings, storeSettings } from '../../src/app/run/stored-settings.js';
import { loadPipeline } from '../../src/config/pipeline.js';

const settings = { pipeline: loadPipeline('nightly', process.cwd()), fresh: false, limit: null, providers: ['p'] };

test('a run keeps the patience it was started with', () => {
  expect(readSettings({ id: 'run', settings: storeSettings(settings) }).pipeline.patienceMs).toBe(4 * 3_600_000);
});

test('a run older than `patience` has the default patience', () => {
  const { patienceMs: _, ...pipeline } = settings.pipeline;
  const stored = JSON.stringify({ ...settings, pipeline });
  expect(readSettings({ id: 'run', settings: stored }).pipeline.patienceMs).toBe(120_000);
});
