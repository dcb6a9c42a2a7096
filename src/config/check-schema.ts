// Holds a file against the schema. Whatever is wrong is reported and taken out, so that the rules which look at
// several keys at once can still judge the rest.
import { Ajv, type ErrorObject } from 'ajv';
import { MAX_DURATION_MS, parseDuration } from './duration.ts';
import { explainError } from './explain-error.ts';
import { fillDefaults } from './fill-defaults.ts';
import { PathSet } from './path-set.ts';
import { type ConfigFile, configSchema, configSchemaNode } from './schema.ts';
import { DURATION, SECRET, SPELLING } from './schema-kinds.ts';
import { branchFor, type SchemaNode } from './schema-node.ts';
import { type Finding, nodeAt, type Path, plainValue, type SourceNode } from './source-tree.ts';

export interface CheckedFile {
  /** Valid and complete: what was wrong has given way to its default. */
  readonly file: ConfigFile;
  readonly findings: readonly Finding[];
  /** What has given way; a rule that needs one of these says nothing. */
  readonly invalid: readonly Path[];
}

type Section = Record<string, unknown>;

const MAX_ROUNDS = 1000;
const validate = newAjv().compile(configSchema);

export function checkSchema(root: SourceNode): CheckedFile {
  const value = plainValue(root);
  if (!isSection(value) || Array.isArray(value)) return notASection();

  const findings: Finding[] = [];
  const invalid: Path[] = [];
  const known = new PathSet();
  for (let round = 0; !validate(value); round += 1) {
    // Each round takes something out, so this never happens; a reload that hangs would be worse than one that fails.
    if (round > MAX_ROUNDS) throw new Error('the schema check does not come to an end');
    const errors = meaningful(validate.errors ?? []).map((error) => ({ error, path: pathOf(error, value) }));
    if (errors.map(({ error, path }) => forgive(error, path, value, root)).includes(true)) continue;
    for (const { error, path } of errors) {
      if (!followsFrom(error, path, known)) findings.push(explainError(error, path, configSchemaNode));
      const wrong = error.keyword === 'additionalProperties' ? unknownKeyPath(error, path) : path;
      const taken = takeOut(value, wrong);
      invalid.push(taken);
      known.add(taken);
    }
  }
  return { file: complete(value), findings, invalid };
}

function notASection(): CheckedFile {
  const message = 'expected keys and values';
  const findings: Finding[] = [{ path: [], on: 'value', message, hint: 'Begin with mcpServers.' }];
  return { file: complete({ mcpServers: {} }), findings, invalid: [[]] };
}

/** Sound because the value has passed the schema that the type is made from. */
function complete(valid: Section): ConfigFile {
  return fillDefaults(configSchemaNode, valid) as ConfigFile;
}

function newAjv(): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    ownProperties: true,
    allowUnionTypes: true,
    // Half of the time that the schema takes at every start: it is ours, held against its meta-schema by a test, and
    // the code made of it runs once or twice.
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  });
  ajv.addVocabulary([SECRET, SPELLING, 'patternErrorMessage']);
  ajv.addKeyword({
    keyword: DURATION,
    type: 'string',
    validate: (_: true, text: string) => (parseDuration(text) ?? 0) <= MAX_DURATION_MS,
  });
  return ajv;
}

/** Of the errors of a choice between schemas, those of the alternative that was meant. */
function meaningful(errors: readonly ErrorObject[]): ErrorObject[] {
  const dropped = new Set<ErrorObject>();
  for (const [index, choice] of errors.entries()) {
    if (choice.keyword !== 'anyOf') continue;
    const branches: readonly SchemaNode[] = choice.schema as readonly SchemaNode[];
    const branch = branchFor(branches, choice.data);
    const meant = branch === undefined ? -1 : branches.indexOf(branch);
    const ofBranch = (error: ErrorObject, branch: number | string) =>
      error.schemaPath.startsWith(`${choice.schemaPath}/${branch}`) &&
      error.instancePath.startsWith(choice.instancePath);
    // The validator reports what is wrong with each alternative right before the choice itself.
    for (let before = index - 1; before >= 0; before -= 1) {
      const error = errors[before] as ErrorObject;
      if (!ofBranch(error, '')) break;
      if (!ofBranch(error, `${meant}/`)) dropped.add(error);
    }
    if (meant !== -1) dropped.add(choice);
  }
  return errors.filter((error) => !dropped.has(error));
}

/**
 * A section whose keys are all commented out is an absent one; so is a value whose placeholders came out empty, and a
 * variable that is null. A placeholder is text, but may stand where a number or a truth value is due, and they, as
 * they are spelt, where free text is.
 */
function forgive(error: ErrorObject, path: Path, value: Section, root: SourceNode): boolean {
  const node = nodeAt(root, path);
  const schema = (error.parentSchema ?? {}) as SchemaNode;
  const { substituted = false, spelling = '' } = node?.kind === 'scalar' ? node : {};
  const isAbsent =
    (error.data === null && (takesSection(schema) || (schema[SPELLING] === true && spelling !== ''))) ||
    (error.data === '' && substituted);
  if (isAbsent) return remove(value, path);
  if (error.keyword !== 'type') return false;
  if (schema[SPELLING] === true && spelling !== '') return replace(value, path, spelling);
  const converted = substituted ? convert(String(error.data), schema.type) : undefined;
  return converted !== undefined && replace(value, path, converted);
}

function takesSection(schema: SchemaNode): boolean {
  return schema.type === 'object' || schema.type === 'array' || (schema.anyOf ?? []).some(takesSection);
}

function convert(text: string, type: string | undefined): number | boolean | undefined {
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return undefined;
}

/** What was taken out leaves its section incomplete: that is no second mistake. */
function followsFrom(error: ErrorObject, path: Path, invalid: PathSet): boolean {
  if (error.keyword !== 'required') return false;
  return invalid.has([...path, String(error.params.missingProperty)]);
}

function unknownKeyPath(error: ErrorObject, path: Path): Path {
  return [...path, String(error.params.additionalProperty)];
}

/** Removes a value and says what that was: of a list, the whole, so that its other indexes stay true. */
function takeOut(value: Section, path: Path): Path {
  const depth = path.findIndex((step) => typeof step === 'number');
  const target = depth === -1 ? path : path.slice(0, depth);
  // Only the servers are required of the file itself.
  if (target.length === 0) value.mcpServers = {};
  else remove(value, target);
  return target.length === 0 ? ['mcpServers'] : target;
}

function remove(value: Section, path: Path): boolean {
  const parent = memberAt(value, path.slice(0, -1));
  const key = path.at(-1);
  return typeof key === 'string' && isSection(parent) && key in parent && delete parent[key];
}

function replace(value: Section, path: Path, replacement: unknown): boolean {
  const parent = memberAt(value, path.slice(0, -1));
  const key = path.at(-1);
  if (key === undefined || !isSection(parent)) return false;
  parent[key] = replacement;
  return true;
}

function memberAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((node, step) => (isSection(node) ? node[step] : undefined), value);
}

/** The validator's JSON pointer, with numbers where lists are indexed. */
function pathOf(error: ErrorObject, value: unknown): Path {
  const path: (string | number)[] = [];
  for (const part of error.instancePath.split('/').slice(1)) {
    const step = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(memberAt(value, path)) ? Number(step) : step);
  }
  return path;
}

/** A list counts as one, with indexes for keys. */
function isSection(value: unknown): value is Section {
  return typeof value === 'object' && value !== null;
}
