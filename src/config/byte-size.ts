// Sizes as the config writes them: `512kb`, `4mb`, `1gb`; powers of 1024, in any letter case.

const UNIT_BYTES = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 } as const;
const BYTE_SIZE = /^(\d+(?:\.\d+)?)(b|kb|mb|gb)$/;

/** V8's longest string: a message must fit into one. */
export const MAX_STRING_BYTES = 511 * UNIT_BYTES.mb;

/** Bytes, or undefined where the text is not a size. */
export function parseByteSize(text: string): number | undefined {
  const [, amount, unit] = BYTE_SIZE.exec(text.toLowerCase()) ?? [];
  if (amount === undefined || unit === undefined) return undefined;
  return Math.round(Number(amount) * UNIT_BYTES[unit as keyof typeof UNIT_BYTES]);
}
