import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { cli, withFolder } from '../../helpers/cli.js';
import { long } from '../../helpers/long.js';
import { bodsStatements, ftmProblems, interestsIn } from '../standards.js';
import { readTable } from '../support.js';

const DEMO = resolve(import.meta.dirname, '../../../fixtures/portfolio.csv');
const countOf = (texts: readonly (string | null | undefined)[], text: string) =>
  texts.filter((one) => one === text).length;

long('the demo as FollowTheMoney and BODS fits the standards and has all that the tables have', async () => {
  await withFolder(async (cwd) => {
    const formats = 'csv,ftm,bods';
    const end = await cli(['run', DEMO, '--sandbox', '--yes', '--format', formats, '--out', 'tables'], { cwd });
    expect(end.code, end.stderr).toBe(3);
    const folder = join(cwd, 'tables');
    const kinds = readTable(folder, 'entities').map(({ kind }) => kind);
    const relations = readTable(folder, 'relations').map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(new Set(['company', 'person', 'unknown']));
    expect(new Set(relations)).toEqual(new Set(['shareholding', 'directorship', 'group_link']));

    const { entities, problems } = ftmProblems(readFileSync(join(folder, 'graph.ftm.json'), 'utf8'));
    expect(problems).toEqual([]);
    const schemata = entities.map(({ schema }) => schema);
    expect(countOf(schemata, 'Company')).toBe(countOf(kinds, 'company'));
    expect(countOf(schemata, 'Person')).toBe(countOf(kinds, 'person'));
    expect(countOf(schemata, 'LegalEntity')).toBe(countOf(kinds, 'unknown'));
    expect(countOf(schemata, 'Ownership')).toBe(countOf(relations, 'shareholding'));
    expect(countOf(schemata, 'Directorship')).toBe(countOf(relations, 'directorship'));
    expect(countOf(schemata, 'UnknownLink')).toBe(countOf(relations, 'group_link'));
    expect(entities.length).toBe(kinds.length + relations.length);

    const statements = bodsStatements(readFileSync(join(folder, 'graph.bods.json'), 'utf8'));
    const types = statements.map(({ recordType }) => recordType);
    expect(countOf(types, 'person')).toBe(countOf(kinds, 'person'));
    expect(countOf(types, 'entity')).toBe(kinds.length - countOf(kinds, 'person'));
    const interests = interestsIn(statements);
    expect(interests).toHaveLength(countOf(relations, 'shareholding'));
    expect(new Set(interests.map(({ type }) => type))).toEqual(new Set(['shareholding']));
    expect(interests.filter(({ beneficialOwnershipOrControl }) => beneficialOwnershipOrControl === true)).toEqual([]);

    const { resources } = JSON.parse(readFileSync(join(folder, 'datapackage.json'), 'utf8')) as {
      resources: readonly { readonly name: string; readonly path: string; readonly bytes: number }[];
    };
    for (const name of ['ftm', 'bods']) {
      const path = `graph.${name}.json`;
      const bytes = statSync(join(folder, path)).size;
      expect(resources.find((resource) => resource.name === `graph-${name}`)).toMatchObject({ path, bytes });
    }

    const again = await cli(['export', '--format', 'bods', '--out', 'bods'], { cwd });
    expect(again.code, again.stderr).toBe(0);
    expect(existsSync(join(cwd, 'bods', 'entities.csv'))).toBe(false);
    expect(bodsStatements(readFileSync(join(cwd, 'bods', 'graph.bods.json'), 'utf8'))).toHaveLength(statements.length);
  });
});
