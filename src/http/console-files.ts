// The console's own files: a page, its style, its scripts. They hold no data, so anybody who reaches the listener may
// have them; what they show, the page fetches with the operator's token.
import { readFile } from 'node:fs/promises';
import { GatewayError } from '../errors.ts';

export interface ConsoleFile {
  readonly type: string;
  readonly content: Buffer;
}

const FOLDER = new URL('../console/', import.meta.url);
const PAGE = 'index.html';
/** One segment without a leading dot: nothing outside the folder can be named. */
const NAME = /^[a-z][a-z-]*\.(?<kind>css|html|js|svg)$/;
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/**
 * @param name the page where it is left out
 * @throws GatewayError path-unknown
 */
export async function readConsoleFile(name: string = PAGE): Promise<ConsoleFile> {
  const type = TYPES[NAME.exec(name)?.groups?.kind ?? ''];
  if (type === undefined) throw new GatewayError('path-unknown');
  try {
    return { type, content: await readFile(new URL(name, FOLDER)) };
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') throw new GatewayError('path-unknown');
    throw thrown;
  }
}
