import { randomUUID } from 'node:crypto'
import { encodeWord, isPlainText, quoteString } from 'nodemailer/lib/mime-funcs'
import type { Sender } from '../config.ts'
import { logoId } from './html.ts'
import type { Mail } from './render.ts'

export interface Letter extends Mail {
  from: Sender
  /** As `writtenAddress` gives it. */
  to: string
  /** As `writtenId` gives it. */
  id: string
  date: Date
  /** Further headers, each in one line. */
  headers?: Record<string, string>
}

/**
 * Writes a mail with a text part and an HTML part (RFC 5322 and 2046), and inside that the logo of its brand (RFC 2387). All
 * mails have this one form, so they cost half
 * of what nodemailer's composer for any form takes.
 */
export function compose({
  from,
  to,
  id,
  date,
  language,
  subject,
  text,
  html,
  logo,
  headers: more = {},
}: Letter): string {
  const boundary = `roster-${randomUUID()}`
  const headers = {
    From: from.name === '' ? from.address : `${phrase(from.name)} <${from.address}>`,
    To: to,
    Subject: words(subject),
    Date: date.toUTCString().replace('GMT', '+0000'),
    'Message-ID': `<${id}@${from.domain}>`,
    ...more,
    'Auto-Submitted': 'auto-generated',
    'Content-Language': language,
    'MIME-Version': '1.0',
    'Content-Type': `multipart/alternative;\r\n boundary="${boundary}"`,
  }
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const shown = logo ? `--${boundary}\r\n${withLogo(html, logo)}` : part(boundary, 'html', html)
  return `${head.join('')}\r\n${part(boundary, 'plain', text)}${shown}--${boundary}--\r\n`
}

function withLogo(html: string, logo: Buffer): string {
  const boundary = `roster-${randomUUID()}`
  const head = `Content-Type: multipart/related; type="text/html";\r\n boundary="${boundary}"\r\n`
  const image = [
    `--${boundary}`,
    'Content-Type: image/png; name="logo.png"',
    'Content-Transfer-Encoding: base64',
    `Content-ID: <${logoId}>`,
    'Content-Disposition: inline; filename="logo.png"',
    '',
    inBase64(logo),
    '',
  ]
  return `${head}\r\n${part(boundary, 'html', html)}${image.join('\r\n')}--${boundary}--\r\n`
}

function part(boundary: string, type: 'plain' | 'html', content: string): string {
  const lines = content.replace(/\r?\n|\r/g, '\r\n')
  // SMTP allows lines of 998 characters. One pattern for both would look ahead so far from every character.
  const isPlain = !/[^\x20-\x7e\r\n]/.test(lines) && lines.split('\r\n').every(({ length }) => length < 998)
  const [encoding, body] = isPlain ? ['7bit', lines] : ['base64', inBase64(lines)]
  const head = `Content-Type: text/${type}; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n`
  return `--${boundary}\r\n${head}\r\n${body}\r\n`
}

function inBase64(content: string | Buffer): string {
  return Buffer.from(content as string)
    .toString('base64')
    .replace(/.{76}/g, '$&\r\n')
}

function phrase(name: string): string {
  return isSimple(name) ? quoteString(name) : words(name)
}

function words(text: string): string {
  return isSimple(text) ? text : encodeWord(text, 'Q', 52)
}

// A reader would decode a text such as =?utf-8?Q?...?= once more.
function isSimple(text: string): boolean {
  return text.length <= 60 && isPlainText(text, true) && !text.includes('=?')
}
