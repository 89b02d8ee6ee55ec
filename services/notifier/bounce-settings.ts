import type { Setting } from '#lib/config/read-config'
import { roomBesideToken } from './return-path.ts'

/** The mailbox to which reports about mails come back. */
export interface Mailbox {
  host: string
  port: number
  /** TLS from the beginning. Otherwise by STARTTLS, and nothing goes without it. */
  secure: boolean
  user: string
  pass: string
  folder: string
}

/** `MAIL_BOUNCES_IMAP`. No message shows what stands there: it has a password. */
export const mailbox: Setting<Mailbox | undefined> = {
  default: undefined,
  accepts: '`imaps://USER:PASSWORD@HOST/FOLDER`, or `imap://` for STARTTLS',
  read(text) {
    const url = URL.parse(text)
    const isImap = url && ['imap:', 'imaps:'].includes(url.protocol)
    if (!isImap || url.hostname === '' || url.username === '' || url.password === '' || url.search + url.hash !== '')
      throw new Error('is not of the form imaps://USER:PASSWORD@HOST/FOLDER')
    const secure = url.protocol === 'imaps:'
    const [user, pass, folder] = [url.username, url.password, url.pathname.slice(1)].map(decoded) as [
      string,
      string,
      string,
    ]
    const host = url.hostname.replace(/^\[|\]$/g, '')
    return { host, port: Number(url.port || (secure ? 993 : 143)), secure, user, pass, folder: folder || 'INBOX' }
  },
}

/** `MAIL_BOUNCES_ADDRESS`, in which a star stands for what names the mail. `isAddress` judges it without the star. */
export function bounceAddress(isAddress: (text: string) => boolean): Setting<string | undefined> {
  return {
    default: undefined,
    accepts: 'an address with a `*` on its left side, such as `bounces+*@example.com`',
    read(text) {
      const [before = '', after, ...more] = text.split('*')
      const left = before + (after ?? '').split('@')[0]
      if (after === undefined || more.length > 0 || before.includes('@') || !isAddress(`${before}x${after}`))
        throw new Error('is not an address with one * on its left side, such as bounces+*@example.com')
      if (left.length > roomBesideToken) throw new Error(`has more than ${roomBesideToken} characters beside its *`)
      return text
    },
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error('has a % that is none of an encoded character: write %25')
  }
}
