// Percent-encoded text, as users and passwords in URLs are.

/** Undefined where the text is not percent-encoded UTF-8. */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
