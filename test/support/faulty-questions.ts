// Tools of the faulty server that ask their caller something.
import { nextRound } from './faulty-rounds.ts';
import { answer, type Meta, progress, type RequestId, type Tool } from './faulty-tool-host.ts';

export const QUESTION_TOOLS: Readonly<Record<string, Tool>> = {
  ask: {
    description:
      'Old era: asks the client `method` with `params` under `id`, answers with what it said: after a report of ' +
      'progress and a log line if `busy`, with a failure if `strict` and it was refused.',
    run(host, args) {
      const id = (args.id as RequestId | undefined) ?? `ask-${host.id}`;
      host.ask(id, ({ result, error }) => {
        if (args.busy) {
          progress(host, host.token, 1);
          host.send({ method: 'notifications/message', params: { level: 'info', data: 'answered' } });
        }
        const content = [{ type: 'text', text: JSON.stringify(result ?? error) }];
        host.complete({ content, ...(args.strict && error ? { isError: true } : {}) });
      });
      host.send({ id, method: String(args.method ?? 'roots/list'), params: (args.params as Meta) ?? {} });
    },
  },
  'ask-when-cancelled': {
    description: 'Old era: asks the client under `id` once it has been cancelled.',
    run(host, args) {
      host.onCancelled(() => {
        host.send({
          id: args.id as RequestId,
          method: 'elicitation/create',
          params: { message: 'too late' },
        });
      });
    },
  },
  'ask-and-withdraw': {
    description: 'Old era: asks the client under `id`, takes the question back, then answers.',
    run(host, args) {
      const id = args.id as RequestId;
      host.send({ id, method: 'elicitation/create', params: { message: 'well?' } });
      host.send({ method: 'notifications/cancelled', params: { requestId: id } });
      answer(host, 'withdrawn');
    },
  },
  'input-required': {
    description: 'New era: asks for a name by input_required; the retry is answered with what it brought.',
    run(host) {
      const { inputResponses, requestState } = host.params;
      if (inputResponses !== undefined) {
        answer(host, JSON.stringify({ inputResponses, requestState }));
        return;
      }
      const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
      const params = { mode: 'form', message: 'Your name?', requestedSchema };
      const result = {
        resultType: 'input_required',
        inputRequests: { name: { method: 'elicitation/create', params } },
        requestState: 'faulty-state-1',
      };
      host.complete(result);
    },
  },
  rounds: {
    description: 'New era: asks each of `rounds` in turn, the last for ever if `endless`, then answers.',
    run(host, args) {
      const result = nextRound(host.params, args);
      if (result === undefined) answer(host, JSON.stringify(host.params.inputResponses ?? null));
      else host.complete(result);
    },
  },
};
