import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { invalid, RosterError } from '#lib/errors'

/** Why a ceremony failed, as pages say it. */
export type Refusal =
  /** No user has it, or the user has removed it. */
  | 'unknown'
  /** Its challenge was used, is over, or was made for something else. */
  | 'late'
  /** It is another person's than the one who is asked. */
  | 'other-person'
  /** The authenticator did not make sure of the person. */
  | 'unverified'
  /** Its counter did not go forward. */
  | 'counter'
  /** The policy of the person's organization allows none. */
  | 'not-allowed'
  /** It is one already. */
  | 'exists'
  /** Whatever else is wrong. */
  | 'wrong'

const reasons: Record<Refusal, [reason: string, message: string]> = {
  unknown: ['PASSKEY_UNKNOWN', 'Nobody has this passkey.'],
  late: ['PASSKEY_CHALLENGE_OVER', 'The challenge was used, is over, or was made for something else.'],
  'other-person': ['PASSKEY_INVALID', 'The passkey is not one of this user.'],
  unverified: ['PASSKEY_UNVERIFIED', 'The authenticator did not make sure of the person.'],
  counter: ['PASSKEY_COPIED', 'The counter of the passkey did not go forward: there may be a copy of it.'],
  'not-allowed': ['FACTOR_NOT_AVAILABLE', 'The login policy of the user allows no passkeys.'],
  exists: ['PASSKEY_EXISTS', 'The authenticator has such a passkey already.'],
  wrong: ['PASSKEY_INVALID', 'The answer of the authenticator is not right.'],
}

/** A ceremony that failed. */
export class Refused extends RosterError {
  readonly refusal: Refusal
  /** Of an unknown one: its id, which the browser may forget. */
  readonly credentialId: string

  constructor(refusal: Refusal, credentialId = '') {
    const [reason, message] = reasons[refusal]
    const code =
      refusal === 'exists' ? 'ALREADY_EXISTS' : refusal === 'not-allowed' ? 'FAILED_PRECONDITION' : 'INVALID_ARGUMENT'
    super(code, reason, message)
    this.refusal = refusal
    this.credentialId = credentialId
  }
}

/** Of a longer one, nothing is believed (WebAuthn, section 4, "Credential ID"). */
const longestCredentialId = 1023

export interface ClientData {
  type: string
  challenge: string
}

/** The answer of an authenticator to a demand for a signature, as `toJSON()` of a browser writes it. Throws `Refused`. */
export function readAssertion(text: string): { credential: AuthenticationResponseJSON; client: ClientData } {
  const { id, rawId, response, clientExtensionResults = {} } = readObject(text)
  const { clientDataJSON, authenticatorData, signature, userHandle } = objectOf(response)
  const isSound = [clientDataJSON, authenticatorData, signature].every(isBase64Url)
  if (!isSound || !isCredentialId(id, rawId)) throw new Refused('wrong')
  if (userHandle !== undefined && userHandle !== null && !isBase64Url(userHandle)) throw new Refused('wrong')
  const parts = { clientDataJSON, authenticatorData, signature, ...(userHandle ? { userHandle } : {}) }
  const credential = { id, rawId: id, type: 'public-key', clientExtensionResults, response: parts }
  return { credential: credential as AuthenticationResponseJSON, client: readClientData(clientDataJSON as string) }
}

/** The answer of an authenticator that made a credential. Throws `Refused`. */
export function readRegistration(text: string): {
  credential: RegistrationResponseJSON
  client: ClientData
  transports: string[]
  discoverable: boolean | undefined
} {
  const { id, rawId, response, clientExtensionResults } = readObject(text)
  const { clientDataJSON, attestationObject, transports } = objectOf(response)
  if (![clientDataJSON, attestationObject].every(isBase64Url) || !isCredentialId(id, rawId)) throw new Refused('wrong')
  const credential = {
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response: { clientDataJSON, attestationObject },
  }
  const { rk } = objectOf(objectOf(clientExtensionResults)['credProps'])
  return {
    credential: credential as RegistrationResponseJSON,
    client: readClientData(clientDataJSON as string),
    transports: transportsOf(transports),
    discoverable: typeof rk === 'boolean' ? rk : undefined,
  }
}

// Those that are known, and further ones that look like one.
function transportsOf(given: unknown): string[] {
  const all = Array.isArray(given) ? (given as unknown[]) : []
  const sound = all.filter((one): one is string => typeof one === 'string' && /^[a-z-]{2,20}$/.test(one))
  return [...new Set(sound)].slice(0, 8)
}

// A page of another site that shows ours in a frame would say so here. Its `type`, `challenge` and `origin` are compared
// with what was asked for.
function readClientData(encoded: string): ClientData {
  const client = readObject(Buffer.from(encoded, 'base64url').toString())
  if ((client['crossOrigin'] ?? false) !== false || client['topOrigin'] !== undefined) throw new Refused('wrong')
  const { type, challenge } = client
  if (typeof type !== 'string' || typeof challenge !== 'string') throw new Refused('wrong')
  return { type, challenge }
}

function readObject(text: string): Record<string, unknown> {
  try {
    return objectOf(JSON.parse(text))
  } catch {
    throw new Refused('wrong')
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

function isBase64Url(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && /^[\w-]+$/.test(value)
}

function isCredentialId(id: unknown, rawId: unknown): id is string {
  if (!isBase64Url(id) || (rawId !== undefined && rawId !== id)) return false
  const bytes = Buffer.from(id, 'base64url')
  // No other text stands for the same id.
  return bytes.length > 0 && bytes.length <= longestCredentialId && bytes.toString('base64url') === id
}

/** A violation of a request that carries such an answer. */
export function credentialInvalid(field: string): RosterError {
  return invalid([{ field, description: 'is no answer of an authenticator' }])
}
