// What the library server has, and what it answers: pages of lists, books by any spelling of their URI, words of its own
// for what is not there.
import type { Members } from './raw-client.ts';

export type LibraryEra = 'modern' | 'legacy';

const LISTS = { listChanged: true };
export const CAPABILITIES: Readonly<Record<LibraryEra, Members>> = {
  legacy: {
    tools: LISTS,
    prompts: LISTS,
    resources: { subscribe: true, ...LISTS },
    completions: {},
    logging: {},
    tasks: { list: {}, requests: { tools: { call: {} } } },
  },
  modern: {
    tools: LISTS,
    prompts: LISTS,
    resources: { subscribe: true, ...LISTS },
    completions: {},
    extensions: { 'com.example/shelves': {} },
  },
};

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
/** Three pages; nothing on the second is for readers. */
const TOOL_PAGES: Readonly<Record<string, { tools: Members[]; nextCursor?: string }>> = {
  '': { tools: [tool('read_book'), tool('write_book')], nextCursor: 'two' },
  two: { tools: [tool('delete_book'), tool('delete_all')], nextCursor: 'three' },
  three: { tools: [tool('read_index'), tool('Read_book'), tool('slow'), tool('gossip')] },
};
const TOOLS = Object.values(TOOL_PAGES).flatMap(({ tools }) => tools.map(({ name }) => name));
const PROMPTS = ['greet', 'plan_heist'];
const BOOKS: Readonly<Record<string, string>> = {
  '/srv/public/a.txt': 'public a',
  '/srv/public/b c.txt': 'public b',
  '/srv/secret/plan.txt': 'secret plan',
};
const RESOURCES = [
  'file:///srv/public/a.txt',
  'file:///srv/public/b%20c.txt',
  'file:///srv/secret/plan.txt',
  'file:///srv/public/../secret/plan.txt',
];
const TEMPLATES = ['file:///srv/{shelf}/{book}', 'file:///srv/secret/{book}', 'file:///srv/public/{book}'];

/** Something is not there, said in the library's own words. */
export class NotThere extends Error {
  readonly code: number;
  readonly more: Members;

  constructor(code: number, message: string, more: Members = {}) {
    super(message);
    this.code = code;
    this.more = more;
  }
}

/** @throws NotThere */
export function lookUp(method: string, params: Members, era: LibraryEra): Members {
  const result = resultOf(method, params, era);
  if (era === 'legacy') return result;
  // A careless server: it calls everything public, whoever asks.
  return { resultType: 'complete', ttlMs: 60_000, cacheScope: 'public', ...result };
}

function resultOf(method: string, params: Members, era: LibraryEra): Members {
  const text = (said: string) => ({ content: [{ type: 'text', text: said }] });
  switch (method) {
    case 'tools/list':
      return TOOL_PAGES[String(params.cursor ?? '')] ?? { tools: [] };
    case 'prompts/list':
      return { prompts: PROMPTS.map((name) => ({ name })) };
    case 'resources/list':
      return { resources: RESOURCES.map((uri) => ({ uri, name: uri })) };
    case 'resources/templates/list':
      return { resourceTemplates: TEMPLATES.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })) };
    case 'tools/call':
      if (!TOOLS.includes(String(params.name))) throw new NotThere(-32602, `No such tool: ${params.name}`);
      return text(`${params.name} was used`);
    case 'prompts/get':
      if (!PROMPTS.includes(String(params.name)))
        throw new NotThere(-32602, `No such prompt: ${params.name}`);
      return { messages: [{ role: 'user', content: { type: 'text', text: String(params.name) } }] };
    case 'resources/read':
      return { contents: [{ uri: params.uri, text: bookAt(String(params.uri), era) }] };
    case 'completion/complete':
      return { completion: completionOf(params) };
    case 'resources/subscribe':
    case 'resources/unsubscribe':
    case 'logging/setLevel':
      return {};
    case 'tasks/list':
      return { tasks: [] };
    case 'com.example/shelves':
      return { shelves: ['public', 'secret'] };
    default:
      throw new NotThere(-32601, 'Method not found');
  }
}

/** By the URL parser and one more decoding, as many do. */
function bookAt(uri: string, era: LibraryEra): string {
  const path = URL.canParse(uri) ? decodeURIComponent(new URL(uri).pathname).replace(/\/+/g, '/') : '';
  const book = BOOKS[path];
  if (book !== undefined) return book;
  throw new NotThere(era === 'legacy' ? -32002 : -32602, `No book at ${path}`, { data: { uri } });
}

function completionOf({ ref, argument }: Members): Members {
  const { type, name, uri } = ref as Members;
  const known = type === 'ref/prompt' ? PROMPTS.includes(String(name)) : TEMPLATES.includes(String(uri));
  if (!known) throw new NotThere(-32602, `No such reference: ${name ?? uri}`);
  const { name: completed } = argument as Members;
  const values = completed === 'shelf' ? ['public', 'secret'] : ['a.txt', '../secret/plan.txt'];
  return { values: type === 'ref/prompt' ? ['one', 'two'] : values, total: values.length, hasMore: false };
}
