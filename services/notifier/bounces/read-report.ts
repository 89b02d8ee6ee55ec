import PostalMime, { type Email } from 'postal-mime'
import { plainDiagnostic, plainStatus } from './plain-diagnostic.ts'

/** A message of the mailbox. */
export interface Received {
  /** Its headers, as text. */
  head: string
  /** What it reports of a mail (RFC 3464); undefined where it is no such report. */
  report: Report | undefined
}

export interface Report {
  /** Whether the mail will never arrive. */
  bounced: boolean
  status: string
  reason: string
}

const statusTypes = ['message/delivery-status', 'message/global-delivery-status']

/** Reads a message, whose end may be cut off: the report comes before the mail that it is about. */
export async function readReceived(raw: Buffer): Promise<Received> {
  const email = await PostalMime.parse(raw, { attachmentEncoding: 'utf8', maxNestingDepth: 10 })
  return { head: email.headerLines.map(({ line }) => line).join('\n'), report: readReport(email) }
}

function readReport({ headers, attachments }: Email): Report | undefined {
  const type = headers.find(({ key }) => key === 'content-type')?.value ?? ''
  const part = attachments.find(({ mimeType }) => statusTypes.includes(mimeType))
  if (!/^\s*multipart\/report\b/i.test(type) || typeof part?.content !== 'string') return undefined
  // The fields of the message, then those of each recipient. A mail of ours has one.
  const [, ...recipients] = part.content.split(/\r?\n[ \t]*\r?\n/).map(fieldsOf)
  const failed = recipients.find((fields) => fields.get('action') === 'failed')
  const fields = failed ?? recipients.find((each) => each.has('action'))
  if (!fields) return undefined
  const status = plainStatus(fields.get('status') ?? '')
  const diagnostic = (fields.get('diagnostic-code') ?? '').replace(/^[\w.-]+\s*;\s*/, '')
  return { bounced: failed !== undefined, status, reason: plainDiagnostic(diagnostic, addressesOf(fields)) }
}

function fieldsOf(block: string): Map<string, string> {
  const lines = block.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)
  return new Map(
    lines.flatMap((line) => {
      const [, name, value] = /^([\w-]+)\s*:\s*(.*?)\s*$/.exec(line) ?? []
      return name === undefined
        ? []
        : [[name.toLowerCase(), name.toLowerCase() === 'action' ? value!.toLowerCase() : value!]]
    }),
  )
}

function addressesOf(fields: Map<string, string>): string[] {
  return ['original-recipient', 'final-recipient'].flatMap(
    (name) => fields.get(name)?.replace(/^[\w-]+\s*;\s*/, '') ?? [],
  )
}
