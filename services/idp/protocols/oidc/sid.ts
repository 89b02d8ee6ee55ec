/** The session of a person at the provider, where it says one. What is no text, or too long, is as good as missing. */
export function readSid(sid: unknown): string | undefined {
  return typeof sid === 'string' && /^[\x20-\x7e]{1,255}$/.test(sid) ? sid : undefined
}
