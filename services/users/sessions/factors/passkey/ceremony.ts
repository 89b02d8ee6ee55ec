import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { RosterError } from '#lib/errors'

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

const errors: Record<Refusal, (metadata: Record<string, string>) => RosterError> = {
  unknown: (metadata) =>
    new RosterError('INVALID_ARGUMENT', 'PASSKEY_UNKNOWN', 'Nobody has this passkey.', { metadata }),
  late: () =>
    new RosterError(
      'INVALID_ARGUMENT',
      'PASSKEY_CHALLENGE_OVER',
      'The challenge was used, is over, or was made for something else.',
    ),
  'other-person': () => new RosterError('INVALID_ARGUMENT', 'PASSKEY_OF_OTHER', 'The passkey is not one of this user.'),
  unverified: () =>
    new RosterError('INVALID_ARGUMENT', 'PASSKEY_UNVERIFIED', 'The authenticator did not make sure of the person.'),
  counter: () =>
    new RosterError(
      'INVALID_ARGUMENT',
      'PASSKEY_COPIED',
      'The counter of the passkey did not go forward: there may be a copy of it.',
    ),
  'not-allowed': () =>
    new RosterError('FAILED_PRECONDITION', 'FACTOR_NOT_AVAILABLE', 'The login policy of the user allows no passkeys.'),
  exists: () => new RosterError('ALREADY_EXISTS', 'PASSKEY_EXISTS', 'Somebody has this passkey already.'),
  wrong: () => new RosterError('INVALID_ARGUMENT', 'PASSKEY_INVALID', 'The answer of the authenticator is not right.'),
}

/** The error of a ceremony that failed. `credentialId`: of an unknown one, which the browser may forget. */
export function refused(refusal: Refusal, credentialId?: string): RosterError {
  return errors[refusal](credentialId === undefined ? {} : { credentialId })
}

/** Why a ceremony failed. Undefined: the error is another one. */
export function refusalOf(error: unknown): Refusal | undefined {
  return error instanceof RosterError ? byReason.get(error.reason) : undefined
}

const byReason = new Map((Object.keys(errors) as Refusal[]).map((refusal) => [refused(refusal).reason, refusal]))

/** Of a longer one, nothing is believed (WebAuthn, section 4, "Credential ID"). */
const longestCredentialId = 1023

export interface ClientData {
  type: string
  challenge: string
}

/** The answer of an authenticator to a demand for a signature, as `toJSON()` of a browser writes it. Throws `refused`. */
export function readAssertion(text: string): { credential: AuthenticationResponseJSON; client: ClientData } {
  const { id, rawId, response, clientExtensionResults = {} } = readObject(text)
  const { clientDataJSON, authenticatorData, signature, userHandle } = objectOf(response)
  const isSound = [clientDataJSON, authenticatorData, signature].every(isBase64Url)
  if (!isSound || !isCredentialId(id, rawId)) throw refused('wrong')
  if (userHandle !== undefined && userHandle !== null && !isBase64Url(userHandle)) throw refused('wrong')
  const parts = { clientDataJSON, authenticatorData, signature, ...(userHandle ? { userHandle } : {}) }
  const credential = { id, rawId: id, type: 'public-key', clientExtensionResults, response: parts }
  return { credential: credential as AuthenticationResponseJSON, client: readClientData(clientDataJSON as string) }
}

/** The answer of an authenticator that made a credential. Throws `refused`. */
export function readRegistration(text: string): {
  credential: RegistrationResponseJSON
  client: ClientData
  transports: string[]
  discoverable: boolean | undefined
} {
  const { id, rawId, response, clientExtensionResults } = readObject(text)
  const { clientDataJSON, attestationObject, transports } = objectOf(response)
  if (![clientDataJSON, attestationObject].every(isBase64Url) || !isCredentialId(id, rawId)) throw refused('wrong')
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
  if ((client['crossOrigin'] ?? false) !== false || client['topOrigin'] !== undefined) throw refused('wrong')
  const { type, challenge } = client
  if (typeof type !== 'string' || typeof challenge !== 'string') throw refused('wrong')
  return { type, challenge }
}

function readObject(text: string): Record<string, unknown> {
  try {
    return objectOf(JSON.parse(text))
  } catch {
    throw refused('wrong')
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
