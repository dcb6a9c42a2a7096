// Numbers, times and counts as people read them.

const NUMBERS = new Intl.NumberFormat('en');
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** @param {number} value */
export function count(value) {
  return NUMBERS.format(value);
}

/**
 * @param {number} value
 * @param {string} one
 */
export function counted(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** @param {number | null | undefined} milliseconds */
export function duration(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return '–';
  if (milliseconds < 10) return `${Math.round(milliseconds * 10) / 10} ms`;
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${Math.round(milliseconds / 100) / 10} s`;
  return span(milliseconds / 1_000);
}

/** @param {number} seconds */
export function span(seconds) {
  if (seconds < 60) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3_600)} h`;
}

/** @param {string} time */
export function ago(time) {
  return `${span((Date.now() - Date.parse(time)) / 1_000)} ago`;
}

/** @param {string} time */
export function clock(time) {
  return CLOCK.format(new Date(time));
}

/** @param {string | number} time */
export function dateAndTime(time) {
  return DATE.format(new Date(time));
}

/** @param {number} bytes */
export function megabytes(bytes) {
  return `${count(Math.round(bytes / 1_048_576))} MB`;
}

/**
 * @param {number} part
 * @param {number} whole
 */
export function percent(part, whole) {
  if (whole === 0) return '–';
  const share = (100 * part) / whole;
  return `${share > 0 && share < 10 ? Math.max(0.1, Math.round(share * 10) / 10) : Math.round(share)} %`;
}
