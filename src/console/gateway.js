// The documents of the gateway, fetched with the operator's token. The token stays in this tab.

const KEY = 'portico-admin-token';
const TIMEOUT_MS = 10_000;

/** The gateway wants a token, or another one. */
export class TokenWanted extends Error {
  /** @param {boolean} wasSent */
  constructor(wasSent) {
    super(wasSent ? 'the token is not accepted' : 'a token is wanted');
    this.wasSent = wasSent;
  }
}

/** There is no document to be had; the message says why in words for the operator. */
class NoAnswer extends Error {}

export function hasToken() {
  return sessionStorage.getItem(KEY) !== null;
}

/** @param {string} token */
export function keepToken(token) {
  sessionStorage.setItem(KEY, token);
}

export function forgetToken() {
  sessionStorage.removeItem(KEY);
}

/**
 * @param {string} path
 * @returns {Promise<any>}
 */
export async function fetchDocument(path) {
  const token = sessionStorage.getItem(KEY);
  const response = await ask(path, token);
  if (response.status === 401) throw new TokenWanted(token !== null);
  if (response.status === 403) {
    throw new NoAnswer(`The gateway refuses this address, ${location.host}. List it in gateway.admin.hosts.`);
  }
  if (!response.ok) throw new NoAnswer(`The gateway answered ${response.status}. Its log says why.`);
  try {
    return await response.json();
  } catch {
    throw new NoAnswer('What answered is no Portico, or it broke off its answer.');
  }
}

/**
 * @param {string} path
 * @param {string | null} token
 */
async function ask(path, token) {
  try {
    return await fetch(path, {
      headers: token === null ? {} : { Authorization: `Bearer ${token}` },
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    throw new NoAnswer('The gateway cannot be reached.');
  }
}
