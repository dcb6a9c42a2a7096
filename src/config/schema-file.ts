// Writes config/portico.schema.json, and the reference in docs/configuration.md, from the schema; with --check it
// only says whether they are as they should be. Run as a program by `npm run check` and `npm run fix`.
import { realpathSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { configReference } from './config-reference.ts';
import { editorSchema } from './editor-schema.ts';
import { configSchemaNode } from './schema.ts';

const SCHEMA_FILE = new URL('../../config/portico.schema.json', import.meta.url);
const REFERENCE_FILE = new URL('../../docs/configuration.md', import.meta.url);
const REFERENCE = /(<!-- reference: [^\n]*-->\n)[\s\S]*(<!-- end of reference -->)/;

export interface GeneratedFile {
  readonly url: URL;
  readonly text: string;
}

/** What the generated files should hold. */
export async function generatedFiles(): Promise<GeneratedFile[]> {
  const document = await readFile(REFERENCE_FILE, 'utf8');
  const reference = configReference(configSchemaNode);
  return [
    { url: SCHEMA_FILE, text: `${JSON.stringify(editorSchema(configSchemaNode), null, 2)}\n` },
    {
      url: REFERENCE_FILE,
      text: document.replace(REFERENCE, (_, start, end) => `${start}\n${reference}\n${end}`),
    },
  ];
}

export async function isUpToDate({ url, text }: GeneratedFile): Promise<boolean> {
  const found = await readFile(url, 'utf8').catch(() => '');
  return found === text;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === import.meta.filename) {
  const isCheck = process.argv.includes('--check');
  for (const file of await generatedFiles()) {
    if (await isUpToDate(file)) continue;
    const path = fileURLToPath(file.url);
    if (!isCheck) {
      await writeFile(file.url, file.text);
      process.stdout.write(`wrote ${path}\n`);
      continue;
    }
    process.stderr.write(`${path} differs from the schema in src/config; run npm run fix\n`);
    process.exitCode = 1;
  }
}
