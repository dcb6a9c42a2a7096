// How several servers are introduced as one: what any of them can do that works through us, and what each has to say,
// under its name. Pure.
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';

export interface IntroducedServer {
  readonly name: string;
  /** Before its names of tools and prompts. */
  readonly prefix: string;
  /** As a client can use them through us. */
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
}

/** Clients put instructions into the context of every conversation. */
const MAX_INSTRUCTIONS_CHARACTERS = 16_384;
const MIN_SHARE_CHARACTERS = 512;
const CUT = '\n[...]';

/**
 * Word of changes is promised for every kind that there is: servers come and go, whatever each promises by itself. What
 * is kept for one server alone (extensions, experiments, the list of tasks) is not there.
 */
export function composedCapabilities(servers: readonly IntroducedServer[]): JsonObject {
  const all = servers.map(({ capabilities }) => capabilities);
  const has = (kind: string) => all.some((capabilities) => capabilities[kind] !== undefined);
  const composed: JsonObject = {};
  for (const kind of ['tools', 'prompts'] as const) if (has(kind)) composed[kind] = { listChanged: true };
  if (has('resources')) {
    const subscribe = all.some(({ resources }) => isJsonObject(resources) && resources.subscribe === true);
    composed.resources = { ...(subscribe ? { subscribe } : {}), listChanged: true };
  }
  for (const kind of ['completions', 'logging'] as const) if (has(kind)) composed[kind] = {};
  const tasks = composedTasks(all);
  return tasks === undefined ? composed : { ...composed, tasks };
}

/** Each server's own words under its name; one that says too much is cut. Undefined where none says anything. */
export function composedInstructions(servers: readonly IntroducedServer[]): string | undefined {
  const talkative = servers.filter(
    ({ instructions }) => instructions !== undefined && instructions.trim() !== '',
  );
  if (talkative.length === 0) return undefined;
  const share = Math.max(MIN_SHARE_CHARACTERS, Math.floor(MAX_INSTRUCTIONS_CHARACTERS / talkative.length));
  const sections = talkative.map(({ name, prefix, instructions = '' }) => {
    const names = prefix === '' ? '' : ` (tools and prompts: ${prefix}__*)`;
    return `# ${oneLine(name)}${names}\n\n${shortened(instructions.trim(), share)}`;
  });
  return shortened(sections.join('\n\n'), MAX_INSTRUCTIONS_CHARACTERS);
}

function composedTasks(all: readonly JsonObject[]): JsonObject | undefined {
  const offered = all.map(({ tasks }) => tasks).filter(isJsonObject);
  if (offered.length === 0) return undefined;
  const canCancel = offered.some(({ cancel }) => cancel !== undefined);
  const requests = offered.map((tasks) => tasks.requests).filter(isJsonObject);
  const merged: JsonObject = {};
  for (const [group, methods] of requests.flatMap((request) => Object.entries(request))) {
    if (isJsonObject(methods))
      merged[group] = { ...(isJsonObject(merged[group]) ? merged[group] : {}), ...methods };
  }
  return {
    ...(canCancel ? { cancel: {} } : {}),
    ...(requests.length === 0 ? {} : { requests: merged }),
  };
}

/** Never within a character. */
function shortened(text: string, max: number): string {
  if (text.length <= max) return text;
  return (
    text
      .slice(0, max - CUT.length)
      .toWellFormed()
      .replace(/\ufffd$/, '') + CUT
  );
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}
