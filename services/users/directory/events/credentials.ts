export type CredentialEvent =
  /** A personal access token, as it was stored before `pat.added`. */
  | { type: 'token.added'; payload: { tokenId: string } }
  | { type: 'pat.added'; payload: { tokenId: string; expiresAt?: string } }
  | { type: 'pat.removed'; payload: { tokenId: string } }
  | { type: 'key.added'; payload: { keyId: string; algorithm: string; publicKey: PublicKey; expiresAt?: string } }
  | { type: 'key.removed'; payload: { keyId: string } }
  | { type: 'secret.added'; payload: { secretId: string; expiresAt?: string } }
  | { type: 'secret.removed'; payload: { secretId: string } }
  /** The warning, once, some time before the end of a credential. */
  | { type: 'credential.expiring'; payload: { kind: CredentialKind; credentialId: string; expiresAt: string } }

/** The types of these events. */
export const credentialEvents = Object.keys({
  'token.added': true,
  'pat.added': true,
  'pat.removed': true,
  'key.added': true,
  'key.removed': true,
  'secret.added': true,
  'secret.removed': true,
  'credential.expiring': true,
} satisfies Record<CredentialEvent['type'], true>)

/** The credentials of a machine: personal access tokens, keys and secrets. */
export type CredentialKind = 'pat' | 'key' | 'secret'

export interface Credential {
  id: string
  /** Both are RFC 3339. Without an end it lives until it is removed. */
  createdAt: string
  expiresAt?: string
  /** The warning before its end was sent. */
  warned?: true
}

export interface MachineKey extends Credential {
  /** As in JOSE: `RS256`, `ES256` or `EdDSA`. */
  algorithm: string
  publicKey: PublicKey
}

/** A JWK (RFC 7517) with its public members alone. */
export interface PublicKey {
  kty: string
  n?: string
  e?: string
  crv?: string
  x?: string
  y?: string
}

/** The credentials of a machine, including those that expired since the last one of the kind was added. */
export interface Credentials {
  pat: Credential[]
  key: MachineKey[]
  secret: Credential[]
}

export const noCredentials: Credentials = { pat: [], key: [], secret: [] }

export function evolveCredentials(credentials: Credentials, event: CredentialEvent, at: Date): Credentials {
  // Expired credentials are dropped here, so that a machine does not grow.
  const including = <Kind extends CredentialKind>(kind: Kind, added: Omit<Credentials[Kind][number], 'createdAt'>) => ({
    ...credentials,
    [kind]: [...living<Credential>(credentials[kind], at), { ...added, createdAt: at.toISOString() }],
  })
  const without = (kind: CredentialKind, id: string) => ({
    ...credentials,
    [kind]: credentials[kind].filter((credential) => credential.id !== id),
  })
  switch (event.type) {
    case 'token.added':
    case 'pat.added': {
      const { tokenId: id, ...rest } = event.payload
      return including('pat', { id, ...rest })
    }
    case 'key.added': {
      const { keyId: id, ...rest } = event.payload
      return including('key', { id, ...rest })
    }
    case 'secret.added': {
      const { secretId: id, ...rest } = event.payload
      return including('secret', { id, ...rest })
    }
    case 'pat.removed':
      return without('pat', event.payload.tokenId)
    case 'key.removed':
      return without('key', event.payload.keyId)
    case 'secret.removed':
      return without('secret', event.payload.secretId)
    case 'credential.expiring': {
      const { kind, credentialId } = event.payload
      const warned = credentials[kind].map((known) => (known.id === credentialId ? { ...known, warned: true } : known))
      return { ...credentials, [kind]: warned }
    }
    default:
      return credentials
  }
}

/** The credentials that have not expired. */
export function living<Kind extends Credential>(credentials: Kind[], now: Date): Kind[] {
  return credentials.filter(({ expiresAt }) => expiresAt === undefined || Date.parse(expiresAt) > now.getTime())
}
