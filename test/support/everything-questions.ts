// Tools and a prompt that ask the client something. Each is written once for both eras: it returns what it still
// needs, which the SDK sends as `input_required` to a modern client and as requests of its own to a legacy one.
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  fromJsonSchema,
  type InputRequest,
  inputRequired,
  inputResponse,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { textResult, userMessage } from './everything-content.ts';
import { DEFAULTS_FORM, ENUMS_FORM, type Form, formOf } from './everything-forms.ts';

/** One key a process: any of its server objects can verify what another minted. */
const stateCodec = createRequestStateCodec<{ step: string; name?: string }>({
  key: crypto.getRandomValues(new Uint8Array(32)),
});
export const verifyRequestState = stateCodec.verify;

export function registerQuestions(server: McpServer): void {
  registerSingleQuestions(server);
  registerStatefulQuestions(server);
  registerFormTools(server);
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'Asks for its context' },
    (ctx) => {
      const context = stringAnswer(ctx as ServerContext, 'user_context', 'context');
      if (context === undefined) {
        return ask({
          user_context: elicit('What context should the prompt use?', formOf({ context: 'string' })),
        });
      }
      return { messages: [userMessage(`Use this context: ${context}`)] };
    },
  );
}

function registerSingleQuestions(server: McpServer): void {
  server.registerTool('test_input_required_result_elicitation', { description: 'Asks for a name' }, (ctx) => {
    const name = stringAnswer(ctx, 'user_name', 'name');
    return name === undefined ? ask({ user_name: askName() }) : textResult(`Hello, ${name}!`);
  });
  server.registerTool('test_input_required_result_sampling', { description: 'Asks the model' }, (ctx) => {
    const capital = sampledText(ctx, 'capital_question');
    if (capital !== undefined) return textResult(capital);
    return ask({ capital_question: sample('What is the capital of France?', 100) });
  });
  server.registerTool(
    'test_input_required_result_list_roots',
    { description: 'Asks for the roots' },
    (ctx) => {
      const roots = rootUris(ctx, 'client_roots');
      return roots === undefined
        ? ask({ client_roots: inputRequired.listRoots() })
        : textResult(`Roots: ${roots.join(', ')}`);
    },
  );
  server.registerTool('test_missing_capability', { description: 'Needs sampling' }, (ctx) => {
    const word = sampledText(ctx, 'word');
    return word === undefined ? ask({ word: sample('Say one word.', 16) }) : textResult(word);
  });
  server.registerTool(
    'test_input_required_result_capabilities',
    { description: 'Asks only what it may' },
    (ctx) => {
      const declared = declaredBy(ctx) ?? server.server.getClientCapabilities() ?? {};
      const answered = Object.keys(ctx.mcpReq.inputResponses ?? {});
      if (answered.length > 0) return textResult(`Answered: ${answered.join(', ')}`);
      return ask({
        ...(declared.elicitation && { user_name: askName() }),
        ...(declared.sampling && { greeting: sample('Generate a greeting', 50) }),
      });
    },
  );
}

function registerStatefulQuestions(server: McpServer): void {
  const confirm = elicit('Please confirm', formOf({ ok: 'boolean' }));
  for (const [name, done] of [
    ['test_input_required_result_request_state', 'state-ok'],
    ['test_input_required_result_tampered_state', 'integrity-ok'],
  ] as const) {
    server.registerTool(name, { description: 'Asks for confirmation, with a signed state' }, async (ctx) => {
      if (acceptedContent(ctx.mcpReq.inputResponses, 'confirm') === undefined) {
        return ask({ confirm }, await stateCodec.mint({ step: name }));
      }
      if (stateOf(ctx)?.step !== name) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The state is missing or of another tool');
      }
      return textResult(done);
    });
  }
  server.registerTool(
    'test_input_required_result_multiple_inputs',
    { description: 'Asks thrice at once' },
    async (ctx) => {
      const name = stringAnswer(ctx, 'user_name', 'name');
      const greeting = sampledText(ctx, 'greeting');
      const roots = rootUris(ctx, 'client_roots');
      if (name === undefined || greeting === undefined || roots === undefined) {
        const state = await stateCodec.mint({ step: 'multiple' });
        const greet = sample('Generate a greeting', 50);
        return ask({ user_name: askName(), greeting: greet, client_roots: inputRequired.listRoots() }, state);
      }
      return textResult(`${greeting} ${name}, ${roots.length} roots`);
    },
  );
  server.registerTool(
    'test_input_required_result_multi_round',
    { description: 'Asks in two rounds' },
    async (ctx) => {
      const state = stateOf(ctx);
      if (state === undefined) {
        const step1 = elicit('Step 1: What is your name?', formOf({ name: 'string' }));
        return ask({ step1 }, await stateCodec.mint({ step: 'name' }));
      }
      if (state.step === 'name') {
        const name = stringAnswer(ctx, 'step1', 'name') ?? 'nobody';
        const step2 = elicit('Step 2: What is your favorite color?', formOf({ color: 'string' }));
        return ask({ step2 }, await stateCodec.mint({ step: 'color', name }));
      }
      return textResult(`${state.name} likes ${stringAnswer(ctx, 'step2', 'color') ?? 'no color'}`);
    },
  );
}

function registerFormTools(server: McpServer): void {
  const forms: [name: string, form: Form][] = [
    ['test_elicitation_sep1034_defaults', DEFAULTS_FORM],
    ['test_elicitation_sep1330_enums', ENUMS_FORM],
  ];
  for (const [name, form] of forms) {
    server.registerTool(name, { description: 'Shows a form and reports the answer' }, (ctx) => {
      const answer = inputResponse(ctx.mcpReq.inputResponses, 'form');
      if (answer.kind !== 'elicit') return ask({ form: elicit('Please fill in the form', form) });
      const content = JSON.stringify(answer.action === 'accept' ? answer.content : {});
      return textResult(`Elicitation completed: action=${answer.action}, content=${content}`);
    });
  }
  server.registerTool(
    'test_elicitation',
    { description: 'Asks the user', inputSchema: fromJsonSchema<{ message: string }>(argument('message')) },
    ({ message }, ctx) => {
      const answer = inputResponse(ctx.mcpReq.inputResponses, 'user');
      if (answer.kind !== 'elicit') {
        return ask({ user: elicit(message, formOf({ username: 'string', email: 'string' })) });
      }
      return textResult(`User response: ${JSON.stringify(answer)}`);
    },
  );
  server.registerTool(
    'test_sampling',
    { description: 'Asks the model', inputSchema: fromJsonSchema<{ prompt: string }>(argument('prompt')) },
    ({ prompt }, ctx) => {
      const text = sampledText(ctx, 'model');
      return text === undefined ? ask({ model: sample(prompt, 100) }) : textResult(`LLM response: ${text}`);
    },
  );
}

function argument(name: string): {
  type: 'object';
  properties: Record<string, { type: 'string' }>;
  required: string[];
} {
  return { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] };
}

function ask(
  inputRequests: Record<string, InputRequest>,
  requestState?: string,
): ReturnType<typeof inputRequired> {
  return inputRequired({ inputRequests, ...(requestState !== undefined && { requestState }) });
}

function elicit(message: string, requestedSchema: Form): InputRequest {
  return inputRequired.elicit({ message, requestedSchema });
}

function askName(): InputRequest {
  return elicit('What is your name?', formOf({ name: 'string' }));
}

function sample(text: string, maxTokens: number): InputRequest {
  return inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text } }],
    maxTokens,
  });
}

/** What a modern client declares with each request; a legacy one did so once, for its connection. */
function declaredBy(ctx: ServerContext): ClientCapabilities | undefined {
  const envelope: { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = ctx.mcpReq.envelope ?? {};
  return envelope[CLIENT_CAPABILITIES_META_KEY];
}

function stateOf(ctx: ServerContext): { step: string; name?: string } | undefined {
  return ctx.mcpReq.requestState<{ step: string; name?: string }>();
}

/** Answers are the client's word: anything but an accepted string counts as not given. */
function stringAnswer(ctx: ServerContext, key: string, field: string): string | undefined {
  const value = acceptedContent<Record<string, unknown>>(ctx.mcpReq.inputResponses, key)?.[field];
  return typeof value === 'string' ? value : undefined;
}

function sampledText(ctx: ServerContext, key: string): string | undefined {
  const view = inputResponse(ctx.mcpReq.inputResponses, key);
  if (view.kind !== 'sampling') return undefined;
  const content = [view.result.content].flat()[0];
  return content?.type === 'text' ? content.text : JSON.stringify(content);
}

function rootUris(ctx: ServerContext, key: string): string[] | undefined {
  const view = inputResponse(ctx.mcpReq.inputResponses, key);
  return view.kind === 'roots' ? view.roots.map((root) => root.uri) : undefined;
}
