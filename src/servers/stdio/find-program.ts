// Looks a program up on a search path, as the system does when it is started.
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export function findProgram(name: string, path = process.env.PATH ?? ''): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
