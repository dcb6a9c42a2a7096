// What has been found of a request by the time that it may go on.
import type { ClientRequest } from '../protocol/client-message.ts';

export interface Permit<Request extends ClientRequest = ClientRequest> {
  /** The request without what its caller may not ask for besides. */
  readonly request: Request;
  /** It is about something that the caller may not know of. */
  readonly hidden: boolean;
}
