// The libraries behind conditions, loaded with the first one: they take as long to load as all else of access, and most
// configs have no condition.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
let loaded: { cel: typeof import('@bufbuild/cel'); re2: typeof import('@bufbuild/re2') } | undefined;

export function celLibrary(): NonNullable<typeof loaded> {
  loaded ??= { cel: require('@bufbuild/cel'), re2: require('@bufbuild/re2') };
  return loaded;
}
