// The console: asks the gateway for its documents every few seconds while somebody looks, and shows them.

import { byId, say } from './elements.js';
import { ExchangesView } from './exchanges.js';
import { fetchDocument, forgetToken, hasToken, keepToken, TokenWanted } from './gateway.js';
import { showNotices } from './notices.js';
import { OverviewView } from './overview.js';
import { showReplicas } from './replicas.js';
import { ServersView } from './servers.js';
import { ToolsView } from './tools.js';
import { clock, span } from './wording.js';

const EVERY_MS = 5_000;
/** Tools change seldom, and there may be many of them. */
const TOOLS_EVERY_MS = 30_000;

const views = {
  overview: new OverviewView(),
  servers: new ServersView(),
  exchanges: new ExchangesView(),
  tools: new ToolsView(),
};
const pause = byId('pause');
const tokenForm = byId('sign-in');
/** @type {HTMLInputElement} */
const tokenField = byId('token');

let isPaused = false;
let isAsking = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
/** When the last answer came, and the one about tools. */
let shownAt = 0;
let toolsAt = 0;

async function refresh() {
  if (isAsking) return;
  isAsking = true;
  clearTimeout(timer);
  try {
    await askAll();
    shownAt = Date.now();
    tell('');
  } catch (thrown) {
    if (thrown instanceof TokenWanted) return askForToken(thrown);
    tellOfFailure(thrown);
  } finally {
    isAsking = false;
    showFreshness();
  }
  schedule();
}

function schedule() {
  clearTimeout(timer);
  if (!isPaused && !document.hidden) timer = setTimeout(refresh, EVERY_MS);
}

async function askAll() {
  const wantsTools = Date.now() - toolsAt >= TOOLS_EVERY_MS;
  const [status, traffic, exchanges, tools] = await Promise.all([
    fetchDocument('status'),
    fetchDocument('status/traffic'),
    fetchDocument('status/exchanges'),
    wantsTools ? fetchDocument('status/tools') : undefined,
  ]);
  showPage();
  showNotices(status);
  views.overview.show(status, traffic);
  views.servers.show(status, traffic);
  views.exchanges.show(exchanges);
  showReplicas(status);
  if (tools === undefined) return;
  views.tools.show(tools);
  // A list that is not known yet is being asked for: look again with the next refresh.
  if (!Object.values(tools.servers).some(({ list }) => list === 'unknown')) toolsAt = Date.now();
}

function showPage() {
  tokenForm.hidden = true;
  for (const id of ['views', 'sections', 'pause']) byId(id).hidden = false;
  byId('forget-token').hidden = !hasToken();
}

/** @param {TokenWanted} wanted */
function askForToken({ wasSent }) {
  forgetToken();
  // What was seen with a token that holds no more goes with it.
  if (shownAt > 0) return location.reload();
  for (const id of ['views', 'sections', 'pause', 'forget-token']) byId(id).hidden = true;
  tell('');
  const isNew = tokenForm.hidden;
  tokenForm.hidden = false;
  say(byId('token-problem'), wasSent ? 'This is not the token. Nothing is shown without it.' : '');
  if (isNew || wasSent) tokenField.focus();
}

/** @param {unknown} thrown */
function tellOfFailure(thrown) {
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  const old = shownAt === 0 ? '' : ` What you see is from ${clock(new Date(shownAt).toISOString())}.`;
  tell(`${words}${old} ${isPaused ? 'Updates are paused.' : 'Trying again every 5 seconds.'}`);
}

/** @param {string} words */
function tell(words) {
  const connection = byId('connection');
  say(connection, words);
  connection.hidden = words === '';
}

function showFreshness() {
  const age = shownAt === 0 || !tokenForm.hidden ? '' : span((Date.now() - shownAt) / 1_000);
  say(byId('freshness'), age === '' ? '' : isPaused ? `paused, ${age} old` : `${age} ago`);
}

pause.addEventListener('click', () => {
  isPaused = !isPaused;
  pause.setAttribute('aria-pressed', String(isPaused));
  say(pause, isPaused ? 'Resume' : 'Pause');
  showFreshness();
  if (isPaused) clearTimeout(timer);
  else void refresh();
});

tokenForm.addEventListener('submit', (event) => {
  event.preventDefault();
  const token = tokenField.value.trim();
  tokenField.value = '';
  if (token === '') return;
  // No other character can be part of a token, or be sent.
  if (!/^[\x21-\x7e]+$/.test(token)) return askForToken(new TokenWanted(true));
  keepToken(token);
  void refresh();
});

byId('forget-token').addEventListener('click', () => {
  forgetToken();
  // What was seen with it goes, too.
  location.reload();
});

document.addEventListener('visibilitychange', () => {
  clearTimeout(timer);
  if (!document.hidden && !isPaused && tokenForm.hidden) void refresh();
});

setInterval(showFreshness, 1_000);
void refresh();
