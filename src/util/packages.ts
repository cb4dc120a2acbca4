// Values and packages that are loaded when they are first used, and the version of this package.

import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);

export function lazy<Value>(compute: () => Value): () => Value {
  let computed: { readonly value: Value } | undefined;
  return () => {
    computed ??= { value: compute() };
    return computed.value;
  };
}

/** Loads a package when it is first used. Commands that do not need it start sooner. */
export const lazyPackage = <Package>(name: string): (() => Package) => lazy(() => load(name) as Package);

/** Its one file: the other way to require it reads ninety. */
export const fuzzball = lazyPackage<typeof import('fuzzball')>('fuzzball/dist/fuzzball.umd.min.js');

const manifest = load('../../package.json') as { readonly version: string };

export const version = manifest.version;
