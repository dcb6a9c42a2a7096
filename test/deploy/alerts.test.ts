// The alerts and the dashboard ask for metrics that exist, with values that they can have, and have their runbooks.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { parse } from 'yaml';
import { FAILURES } from '../../src/errors.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

const DEPLOY = new URL('../../deploy/', import.meta.url);
const read = (path: string) => readFile(new URL(path, DEPLOY), 'utf8');

const rules = parse(await read('prometheus/portico.rules.yml')) as { groups: { rules: Alert[] }[] };
const alerts = rules.groups.flatMap((group) => group.rules);
const documented = await knownMetrics();

/** Of Portico, from its document, which a test holds against a scrape; of the process, from its library. */
async function knownMetrics(): Promise<Set<string>> {
  const document = await read('../docs/metrics.md');
  const ours = [...document.matchAll(/^\| `((?:portico|mcp)_\w+)` +\| (\w+) +\|/gm)].flatMap(
    ([, name, type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => `${name}${part}`) : [String(name)],
  );
  const { body } = await createMetrics().expose();
  const process = [...body.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => String(name));
  return new Set([...ours, ...process, 'up']);
}

/** Names in an expression that are followed by a selector or a range, or stand where a metric does. */
function metricsIn(expression: string): string[] {
  const bare = expression.replace(/"[^"]*"/g, '""').replace(/\{[^}]*\}|\bby \([^)]*\)/g, '');
  return [...bare.matchAll(/\b(?:portico|mcp|process|nodejs)_\w+|\bup\b/g)].map(([name]) => name);
}

for (const { alert, expr, labels, annotations } of alerts) {
  test(`${alert} asks for what Portico tells, and has a runbook`, async () => {
    const asked = metricsIn(expr);
    assert.ok(asked.length > 0);
    assert.deepEqual(
      asked.filter((name) => !documented.has(name)),
      [],
    );
    const values = [...expr.matchAll(/(?:error_type|outcome|code)(=|=~|!=|!~)"([^"]*)"/g)].flatMap(
      ([, , text]) => String(text).split('|'),
    );
    const possible = [...Object.keys(FAILURES), 'ok', 'failed', 'cancelled'];
    assert.deepEqual(
      values.filter((value) => !possible.includes(value)),
      [],
    );
    assert.match(labels.severity, /^(?:warning|critical)$/);
    assert.equal(annotations.runbook_url, `docs/operations.md#${alert.toLowerCase()}`);
  });
}

test('each alert has a section in docs/operations.md and a case for promtool, and no section is of none', async () => {
  const names = alerts.map(({ alert }) => alert).sort();
  const sections = [...(await read('../docs/operations.md')).matchAll(/^### (Portico\w+)$/gm)];
  assert.deepEqual(sections.map(([, name]) => name).sort(), names);
  const cases = parse(await read('prometheus/portico.rules.test.yml')) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
  };
  const firing = cases.tests
    .flatMap(({ alert_rule_test }) => alert_rule_test)
    .filter(({ exp_alerts }) => exp_alerts.length > 0);
  assert.deepEqual([...new Set(firing.map(({ alertname }) => alertname))].sort(), names);
});

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

test('the dashboard asks for what Portico tells, in every panel', async () => {
  const { panels } = JSON.parse(await read('grafana/portico.json')) as { panels: Panel[] };
  for (const { title, type, targets = [] } of panels) {
    const asked = targets.flatMap(({ expr }) => metricsIn(expr));
    assert.equal(asked.length > 0, type !== 'row', title);
    assert.deepEqual(
      asked.filter((name) => !documented.has(name)),
      [],
      title,
    );
  }
});

test('the panels of the dashboard have ids of their own and lie beside each other', async () => {
  const { panels } = JSON.parse(await read('grafana/portico.json')) as { panels: Panel[] };
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) => {
    assert.ok(x + w <= 24);
    return Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`);
  });
  assert.equal(new Set(cells).size, cells.length);
});
