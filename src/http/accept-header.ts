// What an Accept header allows of the two types that MCP answers with (RFC 9110, section 12.5.1).

export interface Accepted {
  readonly json: boolean;
  readonly events: boolean;
  /** The client names the event stream first, at no lower weight than JSON: it would rather have one. */
  readonly prefersEvents: boolean;
}

const BOTH: Accepted = { json: true, events: true, prefersEvents: false };
const USUAL = 'application/json, text/event-stream';

/** Absent or empty means both. The most specific range decides: JSON at q=0 beside a wildcard is events alone. */
export function readAccept(header: string | undefined): Accepted {
  if (header === undefined || header === USUAL || header.trim() === '') return BOTH;
  const quality = new Map<string, number>();
  for (const item of header.split(',')) {
    const [range = '', ...parameters] = item.split(';');
    quality.set(range.trim().toLowerCase(), qualityOf(parameters));
  }
  const weigh = (type: string, group: string) =>
    quality.get(type) ?? quality.get(group) ?? quality.get('*/*') ?? 0;
  const json = weigh('application/json', 'application/*');
  const events = weigh('text/event-stream', 'text/*');
  const [first] = quality.keys();
  return {
    json: json > 0,
    events: events > 0,
    prefersEvents: first === 'text/event-stream' && events > 0 && events >= json,
  };
}

/** One where no weight is given, or a weight that is no number: the lenient reading refuses nobody. */
function qualityOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=');
    if (name.trim().toLowerCase() !== 'q') continue;
    const weight = Number.parseFloat(value);
    return Number.isNaN(weight) ? 1 : weight;
  }
  return 1;
}
