// Tables of bad configs. A mark in the text stands where each problem must be found, so no column is counted by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LoadTextOptions, loadText, problemTexts } from './written-config.ts';

/** Two marks are two problems at one place. */
const MARK = '▸';

export interface BadConfig extends Omit<LoadTextOptions, 'name'> {
  readonly name: string;
  readonly text: string;
  /** The beginnings of the problems, `path: message`, one for each mark and in their order. */
  readonly problems: string | readonly string[];
  /** Words of some hint. */
  readonly hint?: string;
}

/** A file with a sound server and this `gateway`. */
export function gateway(text: string): string {
  return `mcpServers: { a: { url: "http://127.0.0.1:1/mcp" } }\ngateway: ${text}\n`;
}

/** A file with one server, `a`. */
export function server(text: string): string {
  return `mcpServers:\n  ${text.startsWith(MARK) ? `${MARK}a: ${text.slice(1)}` : `a: ${text}`}\n`;
}

/** A file with one server, `a`, that has a url and these keys. */
export function remote(keys: string): string {
  return server(`{ url: "http://127.0.0.1:1", ${keys} }`);
}

export function testBadConfigs(title: string, cases: readonly BadConfig[]): void {
  test(title, async (t) => {
    for (const { name, text, problems, hint = '', ...options } of cases) {
      await t.test(name, async (t) => {
        const { marks, plain } = withoutMarks(text);
        const expected = [problems].flat().map((problem, index) => `${marks[index]} ${problem}`);
        const loaded = await loadText(t, plain, options);
        const found = problemTexts(loaded);
        const shown = found.join('\n');
        assert.equal(loaded.ok, false, 'it must not load');
        assert.equal(marks.length, expected.length, 'as many marks as problems');
        assert.deepEqual(
          found.map((line, index) => (line.startsWith(expected[index] ?? MARK) ? expected[index] : line)),
          expected,
          shown,
        );
        assert.ok(shown.includes(hint), `a hint says "${hint}" in:\n${shown}`);
      });
    }
  });
}

function withoutMarks(text: string): { marks: string[]; plain: string } {
  const marks: string[] = [];
  const lines = text.split('\n').map((line, index) => {
    let plain = '';
    for (const character of line) {
      if (character === MARK) marks.push(`${index + 1}:${plain.length + 1}`);
      else plain += character;
    }
    return plain;
  });
  return { marks, plain: lines.join('\n') };
}
