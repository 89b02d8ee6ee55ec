import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { reloadedSetting } from '../../reloaded-setting.ts'
import { decodeKey } from '../../encryption/keys.ts'

/**
 * `ROSTER_CALLER_KEY`: the gateway's signing key for this one service, as 32 bytes in base64. Of several keys,
 * separated by commas, the service accepts each.
 */
export const callerKey = reloadedSetting((text) => text.split(',').map(toKey))

/** `ROSTER_CALLER_KEYS`: the gateway's key for each of these services, as `users:KEY,grants:KEY`. */
export const callerKeys = (services: string[]) =>
  reloadedSetting((text) => {
    const entries = text.split(',').map((entry) => entry.trim().split(':'))
    const keys = new Map(entries.map(([service, key = '']) => [service!, toKey(key)]))
    if (keys.size < entries.length) throw new Error('names a service twice')
    const missing = services.filter((service) => !keys.has(service))
    if (missing.length > 0) throw new Error(`has no key for ${missing.join(', ')}`)
    return keys
  })

/** The signature of a caller's text. It is valid for one service, until a Unix time in milliseconds. */
export function signatureOf(key: KeyObject, service: string, until: string, text: string): Buffer {
  return createHmac('sha256', key).update(`roster-caller\n${service}\n${until}\n${text}`).digest()
}

function toKey(text: string): KeyObject {
  return createSecretKey(decodeKey(text.trim()))
}
