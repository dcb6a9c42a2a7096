// What may be written of the thing that a request addresses.

const MAX_LENGTH = 200;
/** Of a URI: what stands before the host may be a password. */
const USER_INFO = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i;

/** Without any of these there is nothing to take away: so it is with names, which are written with each call. */
const DELIMITER = /[?#@]/;

/** A URI may carry a key in its userinfo, query or fragment; names of tools have none of these. */
export function loggableTarget(target: string): string {
  if (target.length <= MAX_LENGTH && !DELIMITER.test(target)) return target;
  const [path = ''] = target.split(/[?#]/, 1);
  const bare = path.replace(USER_INFO, '$1[redacted]@');
  return detached(bare.length > MAX_LENGTH ? `${bare.slice(0, MAX_LENGTH)}...` : bare, target);
}

/** A part of a text keeps all of it in memory, megabytes for one name, as long as it is kept itself. */
function detached(part: string, whole: string): string {
  return part.length === whole.length ? part : Buffer.from(part, 'utf16le').toString('utf16le');
}
