import { type KeyObject, timingSafeEqual } from 'node:crypto'
import { RosterError } from '../../errors.ts'
import type { ReloadedSetting } from '../../reloaded-setting.ts'
import { createHalves } from '../../halves.ts'
import { anonymous, type Caller } from '../caller.ts'
import { signatureOf } from './caller-keys.ts'

/**
 * Reads the header `roster-caller`. An empty header means no caller. UNAUTHENTICATED CALLER_NOT_SIGNED unless the
 * gateway signed the header for this service. UNAVAILABLE CLOCKS_DIFFER where it signed for another time.
 */
export type ReadCaller = (header: string) => Caller

/** The longest remaining life of a signature, in milliseconds. The gateway never signs for longer. */
const longest = 60_000
/** Characters of cached headers. */
const capacity = 8 * 1024 * 1024

interface Verified {
  caller: Caller
  until: number
}

/**
 * Accepts callers that the gateway signed with one of the keys. It verifies a header once, and then caches its exact
 * text until the signature ends.
 */
export function createCallerReader(service: string, keys: ReloadedSetting<KeyObject[]>): ReadCaller {
  let trusted = keys.current()
  const cache = createHalves<string, Verified>(capacity)

  function trust(now: KeyObject[]) {
    if (now === trusted) return false
    trusted = now
    // Evict also the callers that a removed key signed.
    cache.clear()
    return true
  }

  function verify(until: string, signature: string, text: string): boolean {
    const given = Buffer.from(signature, 'base64url')
    const isOurs = (key: KeyObject) => timingSafeEqual(signatureOf(key, service, until, text), given)
    // The gateway may use a new key before this service reads its file again, so look at the file now.
    return trusted.some(isOurs) || (trust(keys.refresh()) && trusted.some(isOurs))
  }

  return (header) => {
    if (header === '') return anonymous
    const now = Date.now()
    trust(keys.current())
    const known = cache.get(header)
    if (known && known.until > now) return known.caller
    const [, until, signature, text] = /^(\d{13})\.([\w-]{43})\.(.*)$/s.exec(header) ?? []
    if (text === undefined) throw notSigned('it has no signature')
    if (!verify(until!, signature!, text)) throw notSigned('its signature is not for this service')
    const end = Number(until)
    if (end <= now) throw outOfTime(`its signature is over for ${now - end} ms`)
    if (end > now + longest) throw outOfTime(`its signature lives for ${end - now} ms more`)
    const caller = frozen(JSON.parse(text) as Caller)
    cache.set(header, { caller, until: end }, header.length)
    return caller
  }
}

// Calls share the object, so none may change it for the others.
function frozen(caller: Caller): Caller {
  const projects = Object.values(caller.projectRoles)
  const lists = [caller.organizationRoles, ...projects].flatMap((roles) => Object.values(roles))
  for (const part of [caller.instanceRoles, ...lists, ...projects, caller.organizationRoles, caller.projectRoles])
    Object.freeze(part)
  return Object.freeze(caller)
}

// The client did nothing wrong, and a retry may find a process whose clock is right.
function outOfTime(problem: string): RosterError {
  const cause = new Error(`the caller was refused: ${problem}`)
  return new RosterError('UNAVAILABLE', 'CLOCKS_DIFFER', 'The clock of the service is wrong.', { retryAfter: 1, cause })
}

function notSigned(problem: string): RosterError {
  return new RosterError('UNAUTHENTICATED', 'CALLER_NOT_SIGNED', 'The caller is not signed for this service.', {
    cause: new Error(`the caller was refused: ${problem}`),
  })
}
