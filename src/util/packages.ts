// Packages that are loaded when they are first used, and the version of this one.

import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

/** Loads a package when it is first used. Commands that do not need it start sooner. */
export function lazyPackage<Package>(name: string): () => Package {
  let loaded: Package | undefined;
  return () => {
    loaded ??= load(name) as Package;
    return loaded;
  };
}

/** Its one file: the other way to require it reads ninety. */
export const fuzzball = lazyPackage<typeof import('fuzzball')>('fuzzball/dist/fuzzball.umd.min.js');

const manifest = load('../../package.json') as { readonly version: string };

export const version = manifest.version;
