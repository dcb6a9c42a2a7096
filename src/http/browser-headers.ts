// What browsers are told of everything that the admin listener says: run and load nothing but its own files, show it in
// no frame, give it to no other page, and say nowhere where one came from.

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // Text that could be markup never becomes any: there is no way to make it so.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export const BROWSER_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
