// What kustomize makes of the base, against the schemas of Kubernetes and the Prometheus operator: values by their
// validators, keys that do not exist by the compiler. Needs kubectl, and no cluster.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BASE, kustomization, type Manifest, manifests, manifestsIn } from './manifests.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Of each kind, the module that knows it. */
const MODULES: Readonly<Record<string, string>> = {
  ConfigMap: 'kubernetes-models/v1',
  Service: 'kubernetes-models/v1',
  Secret: 'kubernetes-models/v1',
  Deployment: 'kubernetes-models/apps/v1',
  HorizontalPodAutoscaler: 'kubernetes-models/autoscaling/v2',
  NetworkPolicy: 'kubernetes-models/networking.k8s.io/v1',
  PodDisruptionBudget: 'kubernetes-models/policy/v1',
  ServiceMonitor: '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1',
};

type Model = new (data: unknown) => { validate(): void };

/** Needs neither a cluster nor a word of it. */
function kubectl(command: string): string {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, KUBECONFIG: '/dev/null' },
  });
  assert.equal(status, 0, stderr);
  return stdout;
}

let made: Manifest[];
before(() => {
  made = manifestsIn(kubectl('kubectl kustomize deploy/kubernetes'));
});

test('kustomize makes what lies in the base, and the config', async () => {
  const names = (of: readonly Manifest[]) =>
    of.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
  assert.deepEqual(names(made), [...names(manifests), 'ConfigMap portico'].sort());
  const config = made.find(({ kind }) => kind === 'ConfigMap') as unknown as { data: Record<string, string> };
  const [file = ''] = kustomization.configMapGenerator[0]?.files ?? [];
  assert.equal(config.data[file], await readFile(join(BASE, file), 'utf8'));
});

test('the command of docs/deploy.md makes the Secret that the pods want', () => {
  const text = kubectl(
    'kubectl create secret generic portico --dry-run=client --output yaml --from-literal=admin-token="$(openssl rand -hex 32)" --from-literal=replica-secret="$(openssl rand -hex 32)" --from-literal=redis-url=redis://redis:6379',
  );
  const [secret] = manifestsIn(text) as unknown as { data: Record<string, string> }[];
  const wanted = JSON.stringify(manifests).matchAll(/"secretKeyRef":\{"name":"portico","key":"([^"]+)"/g);
  assert.deepEqual(Object.keys(secret?.data ?? {}).sort(), [...wanted].map(([, key]) => key).sort());
});

test('every value is one that its schema allows', async () => {
  for (const manifest of made) {
    const module = (await import(MODULES[manifest.kind] ?? '')) as Record<string, Model>;
    const Known = module[manifest.kind];
    assert.ok(Known !== undefined);
    new Known(manifest).validate();
    assert.throws(() => new Known({ ...manifest, metadata: { name: 1 } }).validate(), /metadata/, 'it looks');
  }
});

test('every key is one that there is', async (t) => {
  // Beside the modules, so that the compiler finds them.
  const folder = join(ROOT, 'node_modules/.cache/portico-manifests');
  await mkdir(folder, { recursive: true });
  t.after(() => rm(folder, { recursive: true, force: true }));
  const compile = async (name: string, of: readonly Manifest[]) => {
    const lines = of.map(
      (manifest, index) =>
        `import type { I${manifest.kind} as I${index} } from '${MODULES[manifest.kind]}';\n` +
        `export const m${index}: I${index} = ${JSON.stringify(manifest)};`,
    );
    await writeFile(join(folder, `${name}.ts`), lines.join('\n'));
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--module', 'nodenext'];
    return spawnSync('tsc', [...options, `${name}.ts`], { cwd: folder, encoding: 'utf8' });
  };
  const sound = await compile('sound', made);
  assert.equal(sound.status, 0, sound.stdout);
  const [first] = made.filter(({ kind }) => kind === 'PodDisruptionBudget');
  assert.ok(first !== undefined);
  const wrong = await compile('wrong', [
    { ...first, spec: { ...(first.spec as object), maxUnavailabel: 1 } },
  ]);
  assert.match(wrong.stdout, /maxUnavailabel/, 'it looks');
});
