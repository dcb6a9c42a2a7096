// Tells the operator which server Portico could not sign in to, and why: each time as a count, and as a line once a
// minute for each reason.
import type { ServerConfig } from '../../config/config.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { CredentialFailure, CredentialReason } from './credential.ts';

export type CredentialKind =
  | 'headers'
  | 'bearer'
  | 'client_credentials'
  | 'token_exchange'
  | 'identity'
  | 'env';

export interface CredentialFailureLabels {
  readonly server: string;
  readonly type: CredentialKind;
  readonly reason: CredentialReason;
}

export interface CredentialReportsOptions {
  readonly logger: Logger;
  readonly now: () => number;
  readonly onFailure?: (labels: CredentialFailureLabels) => void;
}

const REPEAT_MS = 60_000;

interface Line {
  loggedAtMs: number;
  suppressed: number;
}

export class CredentialReports {
  readonly #options: CredentialReportsOptions;
  readonly #lines = new Map<string, Line>();

  constructor(options: CredentialReportsOptions) {
    this.#options = options;
  }

  report(server: ServerConfig, { reason, message }: CredentialFailure): void {
    const { logger, now, onFailure } = this.#options;
    const type = kindOf(server);
    onFailure?.({ server: server.slug, type, reason });
    const key = `${server.slug} ${reason}`;
    const line = this.#lines.get(key);
    if (line !== undefined && now() - line.loggedAtMs < REPEAT_MS) {
      line.suppressed += 1;
      return;
    }
    this.#lines.set(key, { loggedAtMs: now(), suppressed: 0 });
    logger.warn(
      { server: server.slug, auth: type, reason, problem: message, suppressed: line?.suppressed ?? 0 },
      'could not sign in to a server',
    );
  }
}

function kindOf(server: ServerConfig): CredentialKind {
  return server.type === 'stdio' ? 'env' : (server.auth?.type ?? 'headers');
}
