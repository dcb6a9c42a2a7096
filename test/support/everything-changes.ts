// Lists that really change. The state belongs to the process, since over HTTP each modern request is served by a
// server object of its own; who listens hears of a change through `publish`.
import type { McpServer } from '@modelcontextprotocol/server';
import { textResult, userMessage } from './everything-content.ts';

export interface ChangePublisher {
  toolsChanged(): void;
  promptsChanged(): void;
}

export class EverythingChanges {
  /** Set where listeners are not bound to one server object: the modern HTTP handler's subscriptions. */
  publish: ChangePublisher = { toolsChanged() {}, promptsChanged() {} };
  #extraTool = false;
  #extraPrompt = false;

  registerTools(server: McpServer): void {
    const extraTool = server.registerTool('test_extra_tool', { description: 'Comes and goes' }, () =>
      textResult('I am here.'),
    );
    const extraPrompt = server.registerPrompt('test_extra_prompt', { description: 'Comes and goes' }, () => ({
      messages: [userMessage('I am here.')],
    }));
    if (!this.#extraTool) extraTool.disable();
    if (!this.#extraPrompt) extraPrompt.disable();

    server.registerTool('test_trigger_tool_change', { description: 'Adds or removes a tool' }, () => {
      this.#extraTool = !this.#extraTool;
      extraTool.update({ enabled: this.#extraTool });
      this.publish.toolsChanged();
      return textResult(this.#extraTool ? 'added' : 'removed');
    });
    server.registerTool('test_trigger_prompt_change', { description: 'Adds or removes a prompt' }, () => {
      this.#extraPrompt = !this.#extraPrompt;
      extraPrompt.update({ enabled: this.#extraPrompt });
      this.publish.promptsChanged();
      return textResult(this.#extraPrompt ? 'added' : 'removed');
    });
  }
}
