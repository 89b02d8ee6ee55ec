import { unwritten } from './written.ts'

/** Why a mail was not sent, in words without an address: mail servers like to repeat addresses in their replies. */
export interface Refusal {
  /** The mail server will never take this mail for this address. */
  permanent: boolean
  /** The mail server takes no mail from us at all: an operator must look at the settings. */
  ours: boolean
  /** The mail server answered, or was not asked. */
  answered: boolean
  reason: string
}

// These replies are about the session, not about the mail: wrong order of commands, authentication.
const aboutTheSession = new Set([503, 530, 534, 535, 538])

/** Reads nodemailer's error. */
export function readRefusal(error: unknown): Refusal {
  const { code = '', responseCode, response = '', command = '' } = error as SmtpError
  if (command === unwritten && code === 'EMESSAGE')
    return { permanent: true, ours: false, answered: true, reason: 'The link cannot be written in a mail.' }
  if (code === 'EENVELOPE' && [unwritten, 'API'].includes(command) && !responseCode)
    return { permanent: true, ours: false, answered: true, reason: 'The address cannot be written in SMTP.' }
  const misset = ['EAUTH', 'ENOAUTH', 'ETLS'].includes(code)
  if (!responseCode) return { permanent: false, ours: misset, answered: false, reason: plain(code) }
  const permanentReply = responseCode >= 500 && responseCode < 600
  const aboutTheMail = (command === 'RCPT TO' || command === 'DATA') && !aboutTheSession.has(responseCode)
  const permanent = permanentReply && aboutTheMail
  return {
    permanent,
    ours: permanentReply && !permanent,
    answered: true,
    reason: `SMTP ${responseCode}${enhancedStatus(response)}: the mail server refused ${refused(command)}.`,
  }
}

interface SmtpError {
  code?: string
  responseCode?: number
  response?: string
  command?: string
}

// RFC 3463, such as 5.1.1. Three numbers cannot hold an address.
function enhancedStatus(response: string): string {
  const status = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})(?![\d.])/.exec(response)?.[1]
  return status ? ` ${status}` : ''
}

function refused(command: string): string {
  if (command === 'RCPT TO') return 'the address'
  if (command === 'DATA') return 'the mail'
  if (command === 'MAIL FROM') return 'our sender address'
  return command.startsWith('AUTH') ? 'our user and password' : 'the connection'
}

function plain(code: unknown): string {
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? code : 'the mail server did not take it'
}
