import type { KeyObject } from 'node:crypto'
import type { ReloadedSetting } from '../../reloaded-setting.ts'
import { createHalves, type Halves } from '../../halves.ts'
import type { Caller } from '../caller.ts'
import { signatureOf } from './caller-keys.ts'

/** Writes the header `roster-caller`: the caller, signed for one service and a short time. */
export type SignCaller = (caller: Caller, service: string) => string

/** Milliseconds. Clocks may differ by twenty seconds either way. */
const lifetime = 40_000
const renewedBefore = 20_000
/** Characters of remembered headers for one service. */
const capacity = 8 * 1024 * 1024

interface Made {
  header: string
  key: KeyObject
  until: number
}

/** Signs a caller object once for each service, as far as memory goes, and again when half of its time is over. */
export function createCallerSigner(keys: ReloadedSetting<Map<string, KeyObject>>): SignCaller {
  const made = new Map<string, Halves<Caller, Made>>()

  return (caller, service) => {
    const key = keys.current().get(service)
    if (!key) throw new Error(`there is no caller key for ${service}`)
    let forService = made.get(service)
    if (!forService) made.set(service, (forService = createHalves(capacity)))
    const known = forService.get(caller)
    const now = Date.now()
    // After a clock was set back, an old header would live too long, so do not use it.
    if (known?.key === key && known.until > now + renewedBefore && known.until <= now + lifetime) return known.header
    const until = now + lifetime
    const text = JSON.stringify(caller)
    const signature = signatureOf(key, service, String(until), text).toString('base64url')
    const header = `${until}.${signature}.${text}`
    forService.set(caller, { header, key, until }, header.length)
    return header
  }
}
