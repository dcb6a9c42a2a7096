// The example of docs/tracing.md as a file that Node can preload: in a folder of its own with the SDK beside it.
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { startTraceCollector, type TraceCollector } from './trace-collector.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface PreloadedTracing {
  readonly collector: TraceCollector;
  /** For the process that is to be traced. */
  readonly env: Readonly<Record<string, string>>;
}

export async function preloadTracing(t: TestContext): Promise<PreloadedTracing> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-tracing-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const document = await readFile(join(ROOT, 'docs/tracing.md'), 'utf8');
  const [, example = ''] = /```js\n(.*?)```/s.exec(document) ?? [];
  const file = join(folder, 'tracing.mjs');
  await writeFile(file, example);
  const collector = await startTraceCollector();
  t.after(() => collector[Symbol.asyncDispose]());
  return {
    collector,
    env: {
      NODE_OPTIONS: `--import=${pathToFileURL(file)}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    },
  };
}
