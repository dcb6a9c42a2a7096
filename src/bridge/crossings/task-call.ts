// A modern client's call of a tool that a server of 2025-11-25 runs only as a task: the call is held until the task is
// done, and the client hears of no task.
import type { JsonRpcOutcome } from '../../protocol/json-rpc.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json-text.ts';
import type { CallDeadline } from '../../servers/call-deadline.ts';
import type { Peer } from '../../servers/peer.ts';
import type { LinkCallOptions, ServerLink } from '../../servers/server-link.ts';
import type { CarriedCall } from '../carried-call.ts';
import { withoutRelatedTask } from './related-task.ts';

export interface TaskCallOptions extends Pick<LinkCallOptions, 'signal' | 'onMessage'> {
  onStarted(clock: Pick<CallDeadline, 'extend' | 'pause' | 'resume'>): void;
  /** The server's own id of the task. */
  onTask(taskId: string): void;
}

const CANCEL_TIMEOUT_MS = 5_000;
/** How long a server is asked to keep a task beyond the time that its call may take: people need some as well. */
const GRACE_MS = 3600_000;

/** Whether the server runs this tool as a task or not at all. */
export function needsTask(tool: JsonObject | undefined, { capabilities }: Peer): boolean {
  const execution = isJsonObject(tool?.execution) ? tool.execution : {};
  return execution.taskSupport === 'required' && runsToolsAsTasks(capabilities);
}

/** @throws what the calls to the server throw; the task is cancelled then */
export async function callAsTask(
  carried: CarriedCall,
  params: JsonObject,
  { onTask, ...options }: TaskCallOptions,
): Promise<JsonRpcOutcome> {
  const { link, server } = carried.call;
  const { callTimeoutMs, maxCallTimeMs } = server.config;
  const created = await carried.send({ ...params, task: { ttl: maxCallTimeMs + GRACE_MS } }, options);
  const task = 'result' in created && isJsonObject(created.result.task) ? created.result.task : {};
  // A server may answer at once all the same.
  if (typeof task.taskId !== 'string') return created;
  const { taskId } = task;
  onTask(taskId);
  let alive: NodeJS.Timeout | undefined;
  try {
    // Silence is what a task is for, so only the maximum counts.
    const onStarted: TaskCallOptions['onStarted'] = (clock) => {
      alive = setInterval(() => clock.extend(), Math.max(1, callTimeoutMs / 2)).unref();
      options.onStarted(clock);
    };
    const outcome = await link.call('tasks/result', { taskId }, { ...options, onStarted });
    return 'error' in outcome ? outcome : { result: withoutRelatedTask(outcome.result) };
  } catch (thrown) {
    cancelTask(link, taskId);
    throw thrown;
  } finally {
    clearInterval(alive);
  }
}

function runsToolsAsTasks({ tasks }: JsonObject): boolean {
  const requests = isJsonObject(tasks) && isJsonObject(tasks.requests) ? tasks.requests : {};
  return isJsonObject(requests.tools) && requests.tools.call !== undefined;
}

/** Nobody waits for it any more. A server that cannot cancel tasks ends it when its time is over. */
function cancelTask(link: ServerLink, taskId: string): void {
  const { tasks } = link.peer.capabilities;
  if (!link.open || !isJsonObject(tasks) || tasks.cancel === undefined) return;
  const signal = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
  link.call('tasks/cancel', { taskId }, { signal }).catch(() => undefined);
}
