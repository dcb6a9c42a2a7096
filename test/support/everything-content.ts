// The smallest media that the conformance suite accepts, and small builders for what tools and prompts return.
import type { CallToolResult, ContentBlock, PromptMessage } from '@modelcontextprotocol/server';

/** One red pixel. */
export const PNG_BASE64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** A RIFF header and one sample of silence. */
const WAV_BASE64 = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQIAAAAAAA==';

export const IMAGE: ContentBlock = { type: 'image', data: PNG_BASE64, mimeType: 'image/png' };
export const AUDIO: ContentBlock = { type: 'audio', data: WAV_BASE64, mimeType: 'audio/wav' };

export function embeddedText(uri: string, text: string, mimeType = 'text/plain'): ContentBlock {
  return { type: 'resource', resource: { uri, mimeType, text } };
}

export function textResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

export function userMessage(content: ContentBlock | string): PromptMessage {
  return { role: 'user', content: typeof content === 'string' ? { type: 'text', text: content } : content };
}
