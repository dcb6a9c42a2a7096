// Messages between a client of a view of several servers and one of these servers: names and URIs of the server become
// public on the way out and its own on the way back. Everything else stays, unknown members and their order too.
import { LEGACY_URL_ELICITATION_REQUIRED } from '../protocol/error-codes.ts';
import { isJsonObject, type JsonObject } from '../protocol/json-text.ts';
import {
  type Change,
  changeMember,
  changeMembers,
  eachOf,
  ifText,
  type Maybe,
  oneOrEach,
  withEach,
  withMember,
  withText,
} from './json-change.ts';
import type { PublicNames } from './public-names.ts';
import { ownText, ownUri, publicUri } from './public-uris.ts';

/** How one server's things are called on the view. */
export interface ViewNames {
  /** The slug of the server that is spoken to. */
  readonly server: string;
  readonly tools: PublicNames;
  readonly prompts: PublicNames;
}

/** A result of the server to a request of `method`. List entries without a public name are left out. */
export function publishResult(method: string, result: JsonObject, names: ViewNames): JsonObject {
  const uri = toPublicUri(names);
  const block = contentChange(uri);
  const published = withMember(result, 'inputRequests', (asked) =>
    changeMembers(asked, (question) => publishInputRequest(question, names)),
  );
  switch (method) {
    case 'tools/list':
      return withMember(published, 'tools', (tools) => publishNamed(tools, names, 'tools'));
    case 'prompts/list':
      return withMember(published, 'prompts', (prompts) => publishNamed(prompts, names, 'prompts'));
    case 'resources/list':
      return withEach(published, 'resources', (resource) => withText(resource, 'uri', uri));
    case 'resources/templates/list':
      return withEach(published, 'resourceTemplates', (template) => withText(template, 'uriTemplate', uri));
    case 'resources/read':
      return withEach(published, 'contents', (contents) => withText(contents, 'uri', uri));
    case 'prompts/get':
      return withEach(published, 'messages', (message) => changeMember(message, 'content', block));
    case 'tools/call':
    case 'tasks/result':
      return withMember(withEach(published, 'content', block), '_meta', appPageChange(uri));
    default:
      return published;
  }
}

/**
 * An error of the server: `data.uri` is what a resource that is not there is known by; one that demands visits to URLs
 * (2025-11-25, client/elicitation, "URL Elicitation Required Error") holds questions.
 */
export function publishError<Failure extends { code: number; data?: unknown }>(
  error: Failure,
  names: ViewNames,
): Failure {
  if (!isJsonObject(error.data)) return error;
  const data = withText(error.data, 'uri', toPublicUri(names));
  const told =
    error.code === LEGACY_URL_ELICITATION_REQUIRED
      ? withEach(data, 'elicitations', (asked) => changeQuestion('elicitation/create', asked, names))
      : data;
  return told === error.data ? error : { ...error, data: told };
}

/** Params of a notification of the server. */
export function publishNotification(
  method: string,
  params: JsonObject | undefined,
  names: ViewNames,
): JsonObject | undefined {
  if (params === undefined) return undefined;
  const uri = toPublicUri(names);
  if (method === 'notifications/resources/updated') return withMember(params, 'uri', ifText(uri));
  if (method === 'notifications/elicitation/complete') {
    return withText(params, 'elicitationId', toPublicId(names));
  }
  if (method !== 'notifications/subscriptions/acknowledged') return params;
  return withMember(params, 'notifications', (filter) =>
    changeMember(filter, 'resourceSubscriptions', eachOf(ifText(uri))),
  );
}

/**
 * Params of a question of the server to its client, who is told which server asks. Content stands in what a model is to
 * go on from; what other servers said to the model is no business of this one's.
 */
export function publishQuestion(
  method: string,
  params: JsonObject | undefined,
  names: ViewNames,
): JsonObject | undefined {
  if (params === undefined) return undefined;
  const sign = (text: string) => `[${names.server}] ${text}`;
  if (method === 'elicitation/create') {
    return withText(signed(params, 'message', sign), 'elicitationId', toPublicId(names));
  }
  if (method !== 'sampling/createMessage') return params;
  const content = oneOrEach(contentChange(toPublicUri(names)));
  const published = withEach(params, 'messages', (message) => changeMember(message, 'content', content));
  const marked = withFirstText(published, sign);
  // A system prompt is the server's word too; and without a text it is where to say who asks.
  const takesPrompt = marked === published || Object.hasOwn(params, 'systemPrompt');
  const told = takesPrompt ? signed(marked, 'systemPrompt', sign) : marked;
  return withMember(told, 'includeContext', () => 'none');
}

/** A text of its own that says who asks is there in any case. */
function signed(params: JsonObject, key: string, sign: (text: string) => string): JsonObject {
  return typeof params[key] === 'string'
    ? withText(params, key, sign)
    : { ...params, [key]: sign('').trim() };
}

/**
 * Params of a client's request, as the server that it goes to knows them. A subscription must name this server's
 * resources only; whoever splits it knows whose the others are.
 */
export function ownParams(
  method: string,
  params: JsonObject | undefined,
  names: ViewNames,
): JsonObject | undefined {
  if (params === undefined) return undefined;
  const uri = ifText(toOwnUri(names));
  const own = withMember(params, 'inputResponses', (answers) =>
    changeMembers(answers, (answer) => (isJsonObject(answer) ? ownAnswer(answer, names) : answer)),
  );
  switch (method) {
    case 'tools/call':
      return withMember(withMember(own, 'name', toOwnName(names, 'tools')), 'arguments', deepOwn(names));
    case 'prompts/get':
      return withMember(withMember(own, 'name', toOwnName(names, 'prompts')), 'arguments', deepOwn(names));
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return withMember(own, 'uri', uri);
    case 'completion/complete':
      return ownCompletion(own, names);
    case 'subscriptions/listen':
      return withMember(own, 'notifications', (filter) =>
        changeMember(filter, 'resourceSubscriptions', eachOf(uri)),
      );
    default:
      return own;
  }
}

/** A client's answer to a question of the server. */
export function ownAnswer(result: JsonObject, names: ViewNames): JsonObject {
  const uri = toOwnUri(names);
  return withMember(result, 'content', oneOrEach(contentChange(uri, deepOwn(names))));
}

/** Of the messages of a sampling. */
function withFirstText(params: JsonObject, change: (text: string) => string): JsonObject {
  let isDone = false;
  const inBlock: Change = (block) => {
    if (isDone || !isJsonObject(block) || block.type !== 'text') return block;
    isDone = true;
    return withText(block, 'text', change);
  };
  return withEach(params, 'messages', (message) => changeMember(message, 'content', oneOrEach(inBlock)));
}

function ownCompletion(params: JsonObject, names: ViewNames): JsonObject {
  const restore = deepOwn(names);
  const ref = withMember(params, 'ref', (reference) => {
    if (!isJsonObject(reference)) return reference;
    return reference.type === 'ref/prompt'
      ? withMember(reference, 'name', toOwnName(names, 'prompts'))
      : withMember(reference, 'uri', ifText(toOwnUri(names)));
  });
  const argument = withMember(ref, 'argument', (value) => changeMember(value, 'value', restore));
  return withMember(argument, 'context', (context) => changeMember(context, 'arguments', restore));
}

function publishNamed(entries: Maybe, names: ViewNames, kind: 'tools' | 'prompts'): Maybe {
  if (!Array.isArray(entries)) return entries;
  const page = appPageChange(toPublicUri(names));
  return entries.flatMap((entry) => {
    if (!isJsonObject(entry) || typeof entry.name !== 'string') return [];
    const name = names[kind].publicOf(names.server, entry.name);
    if (name === undefined) return [];
    const named = { ...entry, name };
    return [kind === 'tools' ? withMember(named, '_meta', page) : named];
  });
}

function publishInputRequest(question: Maybe, names: ViewNames): Maybe {
  if (!isJsonObject(question) || typeof question.method !== 'string') return question;
  const { method } = question;
  return withMember(question, 'params', (params) => changeQuestion(method, params, names));
}

function changeQuestion(method: string, params: Maybe, names: ViewNames): Maybe {
  return isJsonObject(params) ? publishQuestion(method, params, names) : params;
}

/** The page of an app that belongs to a tool, where its definition names it in either spelling (MCP Apps). */
function appPageChange(uri: (text: string) => string): Change {
  const page = ifText((text) => (/^ui:/i.test(text) ? uri(text) : text));
  return (meta) => {
    if (!isJsonObject(meta)) return meta;
    const changed = withMember(meta, 'ui', (ui) => changeMember(ui, 'resourceUri', page));
    return withMember(changed, 'ui/resourceUri', page);
  };
}

/** A block of content. `input` is for what a model asks of a tool. */
function contentChange(uri: (text: string) => string, input: Change = (value) => value): Change {
  const change: Change = (block) => {
    if (!isJsonObject(block)) return block;
    switch (block.type) {
      case 'resource_link':
        return withText(block, 'uri', uri);
      case 'resource':
        return changeMember(block, 'resource', (resource) => withText(resource, 'uri', uri));
      case 'tool_result':
        return withEach(block, 'content', change);
      case 'tool_use':
        return withMember(block, 'input', input);
      default:
        return block;
    }
  };
  return change;
}

function toPublicUri({ server }: ViewNames): (uri: string) => string {
  return (uri) => publicUri(server, uri);
}

/** Two servers may give their elicitations the same id. No client hands one back. */
function toPublicId({ server }: ViewNames): (id: string) => string {
  return (id) => `${server}+${id}`;
}

function toOwnUri({ server }: ViewNames): (uri: string) => string {
  return (uri) => ownUri(uri, (slug) => slug === server)?.uri ?? uri;
}

function toOwnName({ server, ...kinds }: ViewNames, kind: 'tools' | 'prompts'): Change {
  return ifText((name) => {
    const owner = kinds[kind].ownerOf(name);
    return owner?.server === server ? owner.name : name;
  });
}

/** Every text in it that is a URI of this server's, at whatever depth. */
function deepOwn({ server }: ViewNames): Change {
  const change: Change = (value) => {
    if (typeof value === 'string') return ownText(server, value);
    if (Array.isArray(value)) return eachOf(change)(value);
    return changeMembers(value, change);
  };
  return change;
}
