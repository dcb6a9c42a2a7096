// Puts the environment and files in the place of placeholders, in string values only and once: what comes out is
// not read again. What is missing is named; what was found never is.

import type { PersonalPart, PersonalValue } from './personal-value.ts';
import { type Piece, parsePlaceholders } from './placeholders.ts';
import type { Finding, Path, SourceNode, SourceScalar } from './source-tree.ts';

export interface PlaceholderSources {
  readonly env: NodeJS.ProcessEnv;
  /** The text of a file; rejects with an error whose message may be shown. */
  readFile(path: string): Promise<string>;
}

/** A value of the environment or of a file, and where the config uses it. */
export interface Substitution {
  readonly path: Path;
  readonly value: string;
}

/** A value that is made for each caller; the tree holds an empty text in its place. */
export interface PersonalVariable {
  readonly path: Path;
  readonly value: PersonalValue;
}

export interface ResolvedPlaceholders {
  readonly root: SourceNode;
  readonly findings: readonly Finding[];
  readonly substitutions: readonly Substitution[];
  readonly personal: readonly PersonalVariable[];
}

export async function resolvePlaceholders(
  root: SourceNode,
  sources: PlaceholderSources,
): Promise<ResolvedPlaceholders> {
  const findings: Finding[] = [];
  const substitutions: Substitution[] = [];
  const personal: PersonalVariable[] = [];

  async function resolveNode(node: SourceNode, path: Path): Promise<SourceNode> {
    if (node.kind === 'scalar') return resolveScalar(node, path);
    if (node.kind === 'list') {
      const items: SourceNode[] = [];
      for (const [index, item] of node.items.entries()) items.push(await resolveNode(item, [...path, index]));
      return { ...node, items };
    }
    const entries = [];
    for (const entry of node.entries) {
      entries.push({ ...entry, value: await resolveNode(entry.value, [...path, entry.key]) });
    }
    return { ...node, entries };
  }

  async function resolveScalar(scalar: SourceScalar, path: Path): Promise<SourceScalar> {
    if (typeof scalar.value !== 'string' || !scalar.value.includes('$')) return scalar;
    const pieces = parsePlaceholders(scalar.value);
    const parts: PersonalPart[] = [];
    for (const piece of pieces) {
      if (piece.kind === 'text') parts.push(piece);
      else if (piece.kind === 'personal' && isServerVariable(path)) parts.push(piece.part);
      else {
        const found = piece.kind === 'personal' ? MISPLACED : await lookUp(piece, sources);
        if (typeof found === 'string') {
          substitutions.push({ path, value: found });
          parts.push({ kind: 'text', text: found });
        } else {
          findings.push({ path, on: 'value', ...found });
        }
      }
    }
    const isPersonal = parts.some((part) => part.kind !== 'text');
    if (isPersonal) personal.push({ path, value: parts });
    const value = isPersonal ? '' : parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
    const isSubstituted = pieces.some((piece) => piece.kind !== 'text');
    return { ...scalar, value, ...(isSubstituted ? { substituted: true } : {}) };
  }

  return { root: await resolveNode(root, []), findings, substitutions, personal };
}

type Missing = Pick<Finding, 'message' | 'hint'>;

const MISPLACED: Missing = {
  message: 'placeholders of the caller (principal) stand in `env` of a server alone',
  hint: 'A server with a url is told who calls by its `auth`.',
};

function isServerVariable(path: Path): boolean {
  return path.length === 4 && path[0] === 'mcpServers' && path[2] === 'env';
}

async function lookUp(
  piece: Exclude<Piece, { kind: 'text' | 'personal' }>,
  sources: PlaceholderSources,
): Promise<string | Missing> {
  switch (piece.kind) {
    case 'wrong':
      return { message: piece.message, hint: piece.hint };
    case 'env': {
      const value = variable(sources.env, piece.name);
      if (piece.fallback !== undefined) return value === undefined || value === '' ? piece.fallback : value;
      return value ?? unset(piece.name);
    }
    case 'input':
      return (
        variable(sources.env, piece.name) ?? {
          message: `nobody can be asked for the input ${piece.id} here`,
          hint: `Set the environment variable ${piece.name}.`,
        }
      );
    case 'file':
      try {
        return (await sources.readFile(piece.path)).replace(/\r?\n$/, '');
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'it cannot be read';
        return { message: `the file of this placeholder, ${piece.path}: ${reason}`, hint: '' };
      }
  }
}

/** Own ones: every object has a `constructor`. */
function variable(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

const EDITOR_VARIABLES = new Set(['workspaceFolder', 'workspaceFolderBasename', 'userHome', 'pathSeparator']);

function unset(name: string): Missing {
  return {
    message: `the environment variable ${name} is not set`,
    hint: EDITOR_VARIABLES.has(name)
      ? 'Editors fill it in by themselves; write the path itself here.'
      : `Set it, or give a default: \${${name}:-...}.`,
  };
}
