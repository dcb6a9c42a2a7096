// The Kubernetes base fits together, and fits the config that it brings.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { problemTexts } from '../config/written-config.ts';
import { BASE, kustomization, manifests, unnamedFiles } from './manifests.ts';

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Container {
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly env: readonly { readonly name: string; readonly valueFrom: { secretKeyRef?: { name: string } } }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly securityContext: Record<string, unknown>;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}
interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly [Container];
  readonly volumes: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[];
  readonly securityContext: Record<string, unknown>;
}
interface Service {
  readonly spec: { readonly ports: readonly { readonly name: string; readonly targetPort: string }[] };
  readonly metadata: { readonly name: string; readonly labels: Record<string, string> };
}

/** From closed input to SIGKILL of the last child process, and some more. */
const STOP_CHILDREN_S = 10;

const only = <Spec>(kind: string, name = 'portico') => {
  const found = manifests.filter((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  assert.equal(found.length, 1, kind);
  return found[0] as unknown as { spec: Spec };
};
const pod = only<{ template: { spec: PodSpec; metadata: { labels: Record<string, string> } } }>('Deployment')
  .spec.template;
const [container] = pod.spec.containers;

const env = Object.fromEntries(
  container.env.map(({ name }) => [name, `value-of-${name.toLowerCase()}-0123456789`]),
);
const loaded = await loadConfig(`${BASE}/portico.yaml`, {
  env: { ...env, PORTICO_POD_IP: '10.1.2.3', PORTICO_REDIS_URL: 'redis://redis:6379' },
});
assert.ok(loaded.ok, problemTexts(loaded).join('\n'));
const { gateway } = loaded.config;

test('the config loads with the environment that the pod has, without a warning', () => {
  assert.deepEqual(loaded.warnings, []);
  assert.ok(loaded.ok && loaded.config.gateway.auth !== undefined, 'nobody comes in without a sign-in');
});

test('what the pod is given to end is enough for preStop, drain and child processes (F44)', () => {
  const { delayMs, graceMs } = gateway.drain;
  const needed = container.lifecycle.preStop.sleep.seconds + (delayMs + graceMs) / 1_000 + STOP_CHILDREN_S;
  assert.ok(pod.spec.terminationGracePeriodSeconds >= needed, `${needed} s are needed`);
});

test('ports have one name and number everywhere', () => {
  const ports = Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort]));
  assert.deepEqual(ports, {
    http: gateway.listen.port,
    admin: gateway.admin?.port,
    replica: gateway.replica?.listen.port,
  });
  const portsOf = (name: string) =>
    only<Service['spec']>('Service', name).spec.ports.map(({ name, targetPort }) => [name, targetPort]);
  assert.deepEqual(portsOf('portico'), [['http', 'http']]);
  assert.deepEqual(portsOf('portico-admin'), [['admin', 'admin']]);
});

test('probes and scrapes ask the admin listener for what it has', () => {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  assert.deepEqual(
    [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet),
    [
      { path: '/livez', port: 'admin' },
      { path: '/livez', port: 'admin' },
      { path: '/readyz', port: 'admin' },
    ],
  );
  const { endpoints } = only<{ endpoints: { port: string; path: string }[] }>('ServiceMonitor').spec;
  assert.deepEqual(
    endpoints.map(({ port, path }) => [port, path]),
    [['admin', '/metrics']],
  );
});

test('each port is open to those alone whom it is for: replicas to replicas, no other to everybody', () => {
  const { ingress } = only<{ ingress: { from: object[]; ports: { port: string }[] }[] }>(
    'NetworkPolicy',
  ).spec;
  const openTo = ingress.map(({ from, ports }) => [ports.map(({ port }) => port), from.length, from[0]]);
  const namespace = (name: string) => ({
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
  });
  assert.deepEqual(openTo, [
    [['http'], 1, namespace('ingress-nginx')],
    [['admin'], 1, namespace('monitoring')],
    [['replica'], 1, { podSelector: { matchLabels: pod.metadata.labels } }],
  ]);
});

test('what scales is the deployment that there is', () => {
  const { scaleTargetRef } = only<{ scaleTargetRef: object }>('HorizontalPodAutoscaler').spec;
  const { apiVersion, kind, metadata } =
    manifests.find((manifest) => manifest.kind === 'Deployment') ?? assert.fail();
  assert.deepEqual(scaleTargetRef, { apiVersion, kind, name: metadata.name });
});

test('every selector finds the pods or the service that it means', () => {
  const { labels } = pod.metadata;
  const selects = (selector: Record<string, string>, of: Record<string, string>) =>
    Object.entries(selector).every(([key, value]) => of[key] === value);
  const podSelectors = [
    only<{ selector: { matchLabels: Record<string, string> } }>('Deployment').spec.selector.matchLabels,
    only<{ selector: { matchLabels: Record<string, string> } }>('PodDisruptionBudget').spec.selector
      .matchLabels,
    only<{ podSelector: { matchLabels: Record<string, string> } }>('NetworkPolicy').spec.podSelector
      .matchLabels,
    only<{ selector: Record<string, string> }>('Service').spec.selector,
    only<{ selector: Record<string, string> }>('Service', 'portico-admin').spec.selector,
  ];
  for (const selector of podSelectors) assert.ok(selects(selector, labels), JSON.stringify(selector));
  const monitor = only<{ selector: { matchLabels: Record<string, string> } }>('ServiceMonitor').spec.selector
    .matchLabels;
  const found = (manifests.filter(({ kind }) => kind === 'Service') as unknown as Service[]).filter(
    ({ metadata }) => selects(monitor, metadata.labels),
  );
  assert.deepEqual(
    found.map(({ metadata }) => metadata.name),
    ['portico-admin'],
  );
});

test('the pod is no root, cannot become it, and writes to its volumes alone', () => {
  assert.deepEqual([pod.spec.securityContext.runAsNonRoot, pod.spec.securityContext.runAsUser], [true, 1000]);
  assert.equal(container.securityContext.readOnlyRootFilesystem, true);
  assert.equal(container.securityContext.allowPrivilegeEscalation, false);
  assert.deepEqual(container.securityContext.capabilities, { drop: ['ALL'] });
});

test('the volumes are those that are mounted, the config is the one that is made, and no file is left over', () => {
  const names = (of: readonly { name: string }[]) => of.map(({ name }) => name).sort();
  assert.deepEqual(names(container.volumeMounts), names(pod.spec.volumes));
  const config = pod.spec.volumes.find(({ name }) => name === 'config')?.configMap?.name;
  assert.deepEqual(kustomization.configMapGenerator, [{ name: config, files: ['portico.yaml'] }]);
  assert.deepEqual(unnamedFiles(), []);
});
