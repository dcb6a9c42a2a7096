// Where in a message the values stand that a server hands out and wants back, and their sealing on the way to the
// client and opening on the way back: request state, cursors, task ids of both eras.
import { GatewayError } from '../../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../protocol/json-text.ts';
import { isList } from '../../protocol/methods.ts';
import { nameSourceOf } from '../../protocol/request-headers.ts';
import { RELATED_TASK } from '../crossings/related-task.ts';
import type { SealContext, SealedState } from './sealed-state.ts';

type Purpose = Exclude<SealContext['purpose'], 'session' | 'credential'>;

export interface SealedFieldsOptions {
  readonly state: SealedState;
  readonly principal: string;
  readonly server: string;
  readonly method: string;
  /** The params as the client sent them. */
  readonly params: JsonObject | undefined;
  /** Of the link, where a cursor need not mean anything on the next one; empty where the server keeps no state. */
  readonly generation: string;
  /** The id of this replica, where there are others. */
  readonly replica?: string | undefined;
  /** A child process of this replica hands out what is sealed: another replica's need not know it. */
  readonly ofProcess?: boolean;
}

/** What a cursor of one link says, where there are several replicas: whose link, which, and the server's own words. */
const PLACED_CURSOR = /^([\w-]+) ([\w-]+) (.*)$/s;
/** The same of a state or task of a child process. */
const PLACED = /^([\w-]+) (.*)$/s;

/** The sealing of one call: what the client brings is opened with the same words that sealed it. */
export class SealedFields {
  readonly #options: SealedFieldsOptions;

  constructor(options: SealedFieldsOptions) {
    this.#options = options;
  }

  /** @throws GatewayError state-invalid for whatever this caller was not given */
  openParams(): JsonObject | undefined {
    const { method, params } = this.#options;
    if (params === undefined || !mayHoldSealed(params)) return params;
    const opened: JsonObject = { ...params };
    if (params.requestState !== undefined)
      opened.requestState = this.#open('requestState', params.requestState);
    if (isList(method) && params.cursor !== undefined) opened.cursor = this.#openCursor(params.cursor);
    if (params.taskId !== undefined && isTaskMethod(method))
      opened.taskId = this.#open('task', params.taskId);
    if (isJsonObject(params.notifications) && Array.isArray(params.notifications.taskIds)) {
      const taskIds = params.notifications.taskIds.map((id) => this.#open('task', id));
      opened.notifications = { ...params.notifications, taskIds };
    }
    return mapRelatedTask(opened, (id) => this.#open('task', id));
  }

  /** The replica whose link alone knows the cursor that the client brings; undefined where no one link does. */
  get cursorReplica(): string | undefined {
    const { method, params, replica } = this.#options;
    const cursor = params?.cursor;
    if (replica === undefined || !isList(method) || typeof cursor !== 'string') return undefined;
    const placed = this.#options.state.open(cursor, this.#placedCursor());
    return PLACED_CURSOR.exec(placed ?? '')?.[1];
  }

  /** The replica whose child process handed out what the client brings; undefined where it was none. */
  get processReplica(): string | undefined {
    const { method, params } = this.#options;
    if (typeof params?.requestState === 'string')
      return this.#openPlaced('requestState', params.requestState)?.replica;
    const isOfTask = typeof params?.taskId === 'string' && isTaskMethod(method);
    return isOfTask ? this.#openPlaced('task', params.taskId)?.replica : undefined;
  }

  sealResult(result: JsonObject): JsonObject {
    const { method } = this.#options;
    if (!isTaskMethod(method) && !mayNeedSealing(result)) return result;
    const sealed: JsonObject = { ...result };
    if (typeof result.requestState === 'string')
      sealed.requestState = this.#seal('requestState', result.requestState);
    if (isList(method) && typeof result.nextCursor === 'string') {
      sealed.nextCursor = this.#sealCursor(result.nextCursor);
    }
    if (result.resultType === 'task' || isTaskMethod(method)) this.#sealTask(sealed);
    if (isJsonObject(result.task)) sealed.task = this.#sealTask({ ...result.task });
    if (method === 'tasks/list' && Array.isArray(result.tasks)) {
      sealed.tasks = result.tasks.map((task) => (isJsonObject(task) ? this.#sealTask({ ...task }) : task));
    }
    return mapRelatedTask(sealed, (id) => this.#seal('task', id));
  }

  /** Params of a message that goes to the client ahead of the response. */
  sealMessage(params: JsonObject): JsonObject {
    const sealed: JsonObject = { ...params };
    this.#sealTask(sealed);
    if (isJsonObject(params.notifications) && Array.isArray(params.notifications.taskIds)) {
      const taskIds = params.notifications.taskIds.map((id) => this.#seal('task', id));
      sealed.notifications = { ...params.notifications, taskIds };
    }
    return mapRelatedTask(sealed, (id) => this.#seal('task', id));
  }

  /** Params of a server's question: of a task of the client's own, only what it belongs to is the server's. */
  sealQuestion(params: JsonObject): JsonObject {
    return mapRelatedTask(params, (id) => this.#seal('task', id));
  }

  /**
   * The client's answer to one, or the params of a notification of its own.
   *
   * @throws GatewayError state-invalid for a task that is none of this caller's
   */
  openRelated(holder: JsonObject): JsonObject {
    return mapRelatedTask(holder, (id) => this.#open('task', id));
  }

  #sealCursor(cursor: string): string {
    const { state, generation, replica } = this.#options;
    if (generation === '' || replica === undefined) return this.#seal('cursor', cursor);
    return state.seal(`${replica} ${generation} ${cursor}`, this.#placedCursor());
  }

  #openCursor(sealed: JsonValue | undefined): string {
    const { state, generation, replica } = this.#options;
    if (generation === '' || replica === undefined) return this.#open('cursor', sealed);
    const placed = typeof sealed === 'string' ? state.open(sealed, this.#placedCursor()) : undefined;
    const [, of, link, cursor] = PLACED_CURSOR.exec(placed ?? '') ?? [];
    if (of !== replica || link !== generation || cursor === undefined) {
      throw new GatewayError('state-invalid', { reason: 'cursor' });
    }
    return cursor;
  }

  #placedCursor(): SealContext {
    return { ...this.#context('cursor'), scope: JSON.stringify([this.#options.method, 'placed']) };
  }

  #placed(purpose: Purpose): SealContext {
    const context = this.#context(purpose);
    return { ...context, scope: JSON.stringify([context.scope, 'placed']) };
  }

  #openPlaced(
    purpose: Purpose,
    sealed: JsonValue | undefined,
  ): { readonly replica: string; readonly value: string } | undefined {
    const placed = typeof sealed === 'string' ? this.#options.state.open(sealed, this.#placed(purpose)) : '';
    const [, replica, value] = PLACED.exec(placed ?? '') ?? [];
    return replica === undefined || value === undefined ? undefined : { replica, value };
  }

  #sealTask(task: JsonObject): JsonObject {
    if (typeof task.taskId === 'string') task.taskId = this.#seal('task', task.taskId);
    return task;
  }

  #seal(purpose: Purpose, value: JsonValue | undefined): string {
    const { state, replica, ofProcess } = this.#options;
    const isPlaced = ofProcess === true && replica !== undefined && purpose !== 'cursor';
    return isPlaced
      ? state.seal(`${replica} ${value}`, this.#placed(purpose))
      : state.seal(String(value), this.#context(purpose));
  }

  #open(purpose: Purpose, sealed: JsonValue | undefined): string {
    const value =
      typeof sealed === 'string' ? this.#options.state.open(sealed, this.#context(purpose)) : undefined;
    // Where that replica is gone, whether another process knows it is for the server to say.
    const found = value ?? this.#openPlaced(purpose, sealed)?.value;
    if (found === undefined) throw new GatewayError('state-invalid', { reason: purpose });
    return found;
  }

  #context(purpose: Purpose): SealContext {
    const { principal, server, method, params, generation } = this.#options;
    const source = nameSourceOf(method)?.member;
    const target = source === undefined ? '' : String(params?.[source]);
    const scopes = {
      requestState: JSON.stringify([method, target]),
      cursor: JSON.stringify([method, generation]),
      // A task outlives the call that made it, and is asked for by other methods.
      task: '',
    };
    return { purpose, principal, server, scope: scopes[purpose] };
  }
}

/** Most params hold nothing that a server has handed out, and need not be copied. */
function mayHoldSealed({ requestState, cursor, taskId, notifications, _meta }: JsonObject): boolean {
  return (
    requestState !== undefined ||
    cursor !== undefined ||
    taskId !== undefined ||
    notifications !== undefined ||
    mayBeOfTask(_meta)
  );
}

/** The same of results. */
function mayNeedSealing({ requestState, nextCursor, resultType, task, _meta }: JsonObject): boolean {
  return (
    requestState !== undefined ||
    nextCursor !== undefined ||
    resultType === 'task' ||
    task !== undefined ||
    mayBeOfTask(_meta)
  );
}

function mayBeOfTask(meta: JsonValue | undefined): boolean {
  return isJsonObject(meta) && meta[RELATED_TASK] !== undefined;
}

function isTaskMethod(method: string): boolean {
  return method.startsWith('tasks/');
}

function mapRelatedTask(holder: JsonObject, map: (id: JsonValue | undefined) => string): JsonObject {
  const meta = holder._meta;
  const related = isJsonObject(meta) ? meta[RELATED_TASK] : undefined;
  if (!isJsonObject(meta) || !isJsonObject(related) || typeof related.taskId !== 'string') return holder;
  return { ...holder, _meta: { ...meta, [RELATED_TASK]: { ...related, taskId: map(related.taskId) } } };
}
