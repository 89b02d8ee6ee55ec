/** What a mail by this server needs beside its Message-ID, so that its provider names it: Postmark replaces that. */
export function providerHeaders(host: string, mailId: string): Record<string, string> {
  return /(^|\.)postmarkapp\.com$/i.test(host) ? { 'X-PM-Metadata-mail-id': mailId } : {}
}
