// What a child process may see of the environment: what its entry declares, and a short list that programs need to
// run at all. Whatever else the gateway was started with, secrets foremost, stays here.

const INHERITED: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TERM',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'TEMP',
  'TMP',
]);

/** @param given stands over what is inherited and under what the entry declares, as a home of its own does */
export function childEnvironment(
  declared: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string>> = {},
  ours: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(ours)) {
    if (value !== undefined && isInherited(name) && !isShellFunction(value)) environment[name] = value;
  }
  return { ...environment, ...given, ...declared };
}

function isInherited(name: string): boolean {
  return INHERITED.has(name) || name.startsWith('LC_');
}

/** Some shells export functions as variables; a child's shell would run them. */
function isShellFunction(value: string): boolean {
  return value.startsWith('()');
}
