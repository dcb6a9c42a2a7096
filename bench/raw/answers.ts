// What the bare servers say: fixed results of three sizes, as one tool each, so that a server costs next to nothing
// and whatever stands before it is what is measured.

/** Bytes of the text that a tool answers with, about. */
export const RESULT_BYTES = { small: 16, kb100: 100 * 1024, mb10: 10 * 1024 * 1024 } as const;
export type ResultSize = keyof typeof RESULT_BYTES;

export interface RawMessage {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly protocolVersion?: string };
}

export interface RawAnswers {
  /** The JSON of a result, or undefined where the method is unknown. */
  resultOf(message: RawMessage): Buffer | undefined;
}

const MODERN = '2026-07-28';

/** @param tools how many it lists; those beyond the three are never called */
export function rawAnswers(era: 'modern' | 'legacy', tools: number): RawAnswers {
  const complete = era === 'modern' ? { resultType: 'complete' } : {};
  const serverInfo = { name: 'raw', version: '1' };
  const capabilities = { tools: {} };
  const bytesOf = (result: object) => Buffer.from(JSON.stringify({ ...result, ...complete }));
  const calls = new Map(
    Object.entries(RESULT_BYTES).flatMap(([size, bytes]) => {
      const result = bytesOf({ content: [{ type: 'text', text: textOf(bytes) }] });
      return [
        [size, result],
        [`${size}_events`, result],
      ] as const;
    }),
  );
  const list = bytesOf({ tools: listedTools([...calls.keys()], tools) });
  const discovery = bytesOf({
    supportedVersions: [MODERN],
    capabilities,
    _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
  });

  return {
    resultOf({ method, params }) {
      if (method === 'tools/call') return calls.get(params?.name ?? '');
      if (method === 'tools/list') return list;
      if (era === 'modern') return method === 'server/discover' ? discovery : undefined;
      if (method === 'ping') return bytesOf({});
      if (method !== 'initialize') return undefined;
      return bytesOf({ protocolVersion: params?.protocolVersion, capabilities, serverInfo });
    },
  };
}

/** Words with the line ends and quotes that tools print, which JSON has to escape. */
function textOf(bytes: number): string {
  const line = 'It says "hello" to whoever asks, in one line of eighty bytes, more or less so.\n';
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
}

function listedTools(names: readonly string[], count: number): object[] {
  const padding = Array.from({ length: Math.max(0, count - names.length) }, (_, index) => `idle_${index}`);
  return [...names, ...padding].map((name) => ({
    name,
    description: 'Answers with a text that was made when the server started.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  }));
}
