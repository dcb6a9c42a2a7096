// URI templates (RFC 6570), as far as it takes to know which URI a completed value leads to.
import type { JsonValue } from '../protocol/json-text.ts';

export interface ExpandedTemplate {
  /** Expressions without a value are left as they are. */
  readonly text: string;
  /** Whether none is left. */
  readonly complete: boolean;
}

interface Operator {
  readonly first: string;
  readonly separator: string;
  /** `name=value` rather than the value alone. */
  readonly named: boolean;
  /** Reserved characters stay as they are. */
  readonly reserved: boolean;
}

/** RFC 6570, appendix A. */
const OPERATORS: Readonly<Record<string, Operator>> = {
  '': { first: '', separator: ',', named: false, reserved: false },
  '+': { first: '', separator: ',', named: false, reserved: true },
  '#': { first: '#', separator: ',', named: false, reserved: true },
  '.': { first: '.', separator: '.', named: false, reserved: false },
  '/': { first: '/', separator: '/', named: false, reserved: false },
  ';': { first: ';', separator: ';', named: true, reserved: false },
  '?': { first: '?', separator: '&', named: true, reserved: false },
  '&': { first: '&', separator: '&', named: true, reserved: false },
};

const EXPRESSION = /\{([+#./;?&]?)([^{}]*)\}/g;

export function expandTemplate(
  template: string,
  values: Readonly<Record<string, JsonValue | undefined>>,
): ExpandedTemplate {
  let complete = true;
  const text = template.replace(EXPRESSION, (expression: string, sign: string, list: string) => {
    const operator = OPERATORS[sign];
    const names = list.split(',').map((name) => name.replace(/\*$|:\d+$/, ''));
    const parts = names.map((name) => (Object.hasOwn(values, name) ? values[name] : undefined));
    if (operator === undefined || !parts.every((part) => typeof part === 'string')) {
      complete = false;
      return expression;
    }
    const { first, separator, named, reserved } = operator;
    const written = parts.map((part, index) => {
      const value = reserved ? encodeURI(String(part)) : encodeURIComponent(String(part));
      return named ? `${names[index]}=${value}` : value;
    });
    return first + written.join(separator);
  });
  return { text, complete };
}
