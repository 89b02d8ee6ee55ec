import { timingSafeEqual } from 'node:crypto'
import type { Keyring } from '#lib/encryption/keys'

/** Writes and reads the addresses to which reports about mails come back (VERP). */
export interface ReturnPaths {
  /** The address for a mail; undefined for an id that no mail of ours has. */
  addressOf(mailId: string): string | undefined
  /** The mail of an address of ours in the text. Nobody else can write one of them: it bears a MAC. */
  mailIn(text: string): string | undefined
}

const purpose = 'mail-return-path'
const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/
/** Base 36, which mail servers that change the case leave as it is: 128 bits of the id, the id of the key, 80 bits. */
const token = '([\\da-z]{25})([\\da-f]{8})([\\da-z]{16})'
const tokenLength = 49

/** The most characters that a template may have on the left side beside the star: 64 there are. */
export const roomBesideToken = 64 - tokenLength

/** `template` is an address with a star where a mail's own part stands. */
export function openReturnPaths(template: string, keys: Keyring): ReturnPaths {
  const [before, after] = template.toLowerCase().split('*') as [string, string]
  const pattern = new RegExp(`(?<![\\w.+-])${literal(before)}${token}${literal(after)}(?![\\w.-])`, 'g')

  const macOf = (mailId: string, keyId: string) =>
    inBase36(keys.mac(purpose, keyId, [mailId]).subarray(0, 10).toString('hex'), 16)

  function isOurs(mailId: string, keyId: string, mac: string): boolean {
    try {
      return timingSafeEqual(Buffer.from(macOf(mailId, keyId)), Buffer.from(mac))
    } catch {
      // The key is gone, or was never there.
      return false
    }
  }

  return {
    addressOf(mailId) {
      if (!uuid.test(mailId)) return undefined
      const id = inBase36(mailId.replaceAll('-', ''), 25)
      return template.replace('*', `${id}${keys.currentId}${macOf(mailId, keys.currentId)}`)
    },
    mailIn(text) {
      for (const [, id, keyId, mac] of text.toLowerCase().matchAll(pattern)) {
        const mailId = asUuid(id!)
        if (mailId !== undefined && isOurs(mailId, keyId!, mac!)) return mailId
      }
      return undefined
    },
  }
}

function inBase36(hex: string, length: number): string {
  return BigInt(`0x${hex}`).toString(36).padStart(length, '0')
}

function asUuid(base36: string): string | undefined {
  const number = [...base36].reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n)
  const hex = number.toString(16).padStart(32, '0')
  return hex.length > 32 ? undefined : hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}
