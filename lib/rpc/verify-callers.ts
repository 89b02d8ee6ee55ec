import { type KeyObject, timingSafeEqual } from 'node:crypto'
import { RosterError } from '../errors.ts'
import type { Followed } from '../followed.ts'
import { anonymous, type Caller } from './caller.ts'
import { signatureOf } from './caller-keys.ts'

/**
 * Reads the header `roster-caller`; an empty one is nobody's. UNAUTHENTICATED CALLER_NOT_SIGNED for all but what the gateway signed for
 * this service and this time.
 */
export type ReadCaller = (header: string) => Caller

/** What a service without a key does: it knows nobody. */
export const refuseCallers: ReadCaller = (header) => {
  if (header === '') return anonymous
  throw notSigned('this service has no caller key')
}

/** Milliseconds that a signature may still have: what was made for longer is not the gateway's. */
const longest = 60_000
/** Characters of headers that are remembered, in two halves: when one is full, the other is forgotten. */
const capacity = 8 * 1024 * 1024

interface Verified {
  caller: Caller
  until: number
}

/** Takes what the gateway signed with one of the keys. A header is verified once and then remembered, letter by letter, until its end. */
export function createCallerReader(service: string, keys: Followed<KeyObject[]>): ReadCaller {
  let trusted = keys.current()
  const memory = createMemory()

  function trust(now: KeyObject[]) {
    if (now === trusted) return false
    trusted = now
    // What a key signed that is trusted no more goes with it.
    memory.clear()
    return true
  }

  function verify(until: string, signature: string, text: string): boolean {
    const given = Buffer.from(signature, 'base64url')
    const isOurs = (key: KeyObject) => timingSafeEqual(signatureOf(key, service, until, text), given)
    // Where the gateway was faster with a new key, the file has it already.
    return trusted.some(isOurs) || (trust(keys.refresh()) && trusted.some(isOurs))
  }

  return (header) => {
    if (header === '') return anonymous
    const now = Date.now()
    trust(keys.current())
    const known = memory.get(header)
    if (known && known.until > now) return known.caller
    const [, until, signature, text] = /^(\d{13})\.([\w-]{43})\.(.*)$/s.exec(header) ?? []
    if (text === undefined) throw notSigned('it has no signature')
    if (!verify(until!, signature!, text)) throw notSigned('its signature is not for this service')
    const end = Number(until)
    if (end <= now) throw notSigned(`its signature is over for ${now - end} ms`)
    if (end > now + longest) throw notSigned(`its signature lives for ${end - now} ms more`)
    const caller = frozen(JSON.parse(text) as Caller)
    memory.set(header, { caller, until: end })
    return caller
  }
}

// Calls share it, so that none may change it for the others.
function frozen(caller: Caller): Caller {
  for (const roles of [caller.instanceRoles, ...Object.values(caller.organizationRoles)]) Object.freeze(roles)
  Object.freeze(caller.organizationRoles)
  return Object.freeze(caller)
}

function createMemory() {
  let [younger, older, size] = [new Map<string, Verified>(), new Map<string, Verified>(), 0]
  return {
    get: (header: string) => younger.get(header) ?? older.get(header),
    set(header: string, verified: Verified) {
      if (size + header.length > capacity / 2) [younger, older, size] = [new Map(), younger, 0]
      younger.set(header, verified)
      size += header.length
    },
    clear: () => void ([younger, older, size] = [new Map(), new Map(), 0]),
  }
}

function notSigned(problem: string): RosterError {
  return new RosterError('UNAUTHENTICATED', 'CALLER_NOT_SIGNED', 'The caller is not signed for this service.', {
    cause: new Error(`the caller was refused: ${problem}`),
  })
}
