// The Kubernetes base, read as it lies in deploy/kubernetes.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';

export const BASE = fileURLToPath(new URL('../../deploy/kubernetes', import.meta.url));

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: unknown;
}

/** @param text YAML documents, one manifest each */
export function manifestsIn(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

export const kustomization = parse(readFileSync(`${BASE}/kustomization.yaml`, 'utf8')) as {
  readonly resources: readonly string[];
  readonly configMapGenerator: readonly { readonly name: string; readonly files: readonly string[] }[];
};

export const manifests = kustomization.resources.flatMap((file) =>
  manifestsIn(readFileSync(`${BASE}/${file}`, 'utf8')),
);

/** Files of the folder that no kustomization speaks of. */
export function unnamedFiles(): string[] {
  const named = [
    ...kustomization.resources,
    ...kustomization.configMapGenerator.flatMap(({ files }) => files),
  ];
  return readdirSync(BASE).filter((file) => file !== 'kustomization.yaml' && !named.includes(file));
}
