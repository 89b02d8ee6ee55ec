import type {
  APIAuthMethodType,
  IDTokenAlgorithm,
  OIDCAppType,
  OIDCAuthMethodType,
  OIDCGrantType,
  OIDCTokenType,
} from '#gen/roster/grants/v1/application_service'

/** The events of an application. It belongs to the organization that owns its project. */
export type ApplicationEvent =
  | { type: 'added'; payload: NewApplication }
  | { type: 'changed'; payload: { name: string } }
  | { type: 'config.changed'; payload: ApplicationConfig }
  | { type: 'secret.changed'; payload: { secretId: string } }
  | { type: 'secret.added'; payload: SecretWithEnd }
  | { type: 'secret.expiry.changed'; payload: SecretWithEnd }
  | { type: 'secret.removed'; payload: { secretId: string } }
  | { type: 'key.added'; payload: NewApplicationKey }
  | { type: 'key.removed'; payload: { keyId: string } }
  | { type: 'deactivated'; payload: {} }
  | { type: 'reactivated'; payload: {} }
  | { type: 'removed'; payload: {} }

/** The settings, of exactly one of the two types. */
export interface ApplicationConfig {
  oidc?: OIDC
  api?: API
}

/** Of a client of OpenID Connect. */
export interface OIDC {
  redirectUris: string[]
  grantTypes: OIDCGrantType[]
  appType: OIDCAppType
  authMethodType: OIDCAuthMethodType
  postLogoutRedirectUris: string[]
  devMode: boolean
  accessTokenType: OIDCTokenType
  accessTokenRoleAssertion: boolean
  idTokenRoleAssertion: boolean
  idTokenUserinfoAssertion: boolean
  /** In seconds. */
  clockSkew: number
  additionalOrigins: string[]
  skipNativeAppSuccessPage: boolean
  /** Empty where the application wants no such call. */
  backChannelLogoutUri: string
  allowMissingPkce: boolean
  firstParty: boolean
  rosterApi: boolean
  idTokenAlgorithm: IDTokenAlgorithm
  /** In seconds. 0: as long as tokens of people live. */
  accessTokenLifetime: number
  /** The login application, without `/login`. Missing: people sign in on Roster's pages. */
  loginBaseUri?: string
  /** The only organization whose people may come. Missing: any. */
  organizationId?: string
}

/** Of an API, which introspects tokens and signs nobody in. */
export interface API {
  authMethodType: APIAuthMethodType
}

export interface NewApplication extends ApplicationConfig {
  projectId: string
  name: string
  clientId: string
  /** Missing where its method of authentication uses no secret. */
  secretId?: string
}

interface SecretWithEnd {
  secretId: string
  /** RFC 3339. Missing where it lives until it is removed or replaced. */
  expiresAt?: string
}

/** A secret of an application. Its hash is a row of `application_secrets`. */
export interface ClientSecret extends SecretWithEnd {
  /** RFC 3339. */
  createdAt: string
}

export interface NewApplicationKey {
  keyId: string
  /** As in JOSE: `RS256`, `ES256` or `EdDSA`. */
  algorithm: string
  publicKey: ApplicationPublicKey
  /** RFC 3339. Missing where it lives until it is removed. */
  expiresAt?: string
}

/** A JWK (RFC 7517) with its public members alone. */
export interface ApplicationPublicKey {
  kty: string
  n?: string
  e?: string
  crv?: string
  x?: string
  y?: string
}

export interface ApplicationKey extends NewApplicationKey {
  /** RFC 3339. */
  createdAt: string
}

export interface Application extends ApplicationConfig {
  projectId: string
  name: string
  clientId: string
  /** Oldest first. Those that expired since the last change of a secret are among them. */
  secrets?: ClientSecret[] | undefined
  /** Those that expired since the last one was added are among them. */
  keys?: ApplicationKey[] | undefined
  inactive?: true | undefined
  /** Little else is kept, and both ids stay taken for good. */
  removed?: true
}

/** How the application proves who it is. */
export type Proof = 'secret' | 'keys' | 'nothing'

// By their numbers in the contract, because a vocabulary imports types alone.
const oidcProofs: readonly Proof[] = ['secret', 'secret', 'nothing', 'keys']
const apiProofs: readonly Proof[] = ['secret', 'keys']

export function proofOf({ oidc, api }: ApplicationConfig): Proof {
  return (oidc ? oidcProofs[oidc.authMethodType] : apiProofs[api!.authMethodType])!
}

/** The application after an event. */
export function evolveApplication(
  application: Application | undefined,
  { type, payload }: ApplicationEvent,
  at: Date,
): Application {
  if (type === 'added') return added(payload, at)
  if (application === undefined) throw new Error(`an application begins with ${type}`)
  const { keys = [], secrets = [] } = application
  switch (type) {
    case 'changed':
      return { ...application, ...payload }
    case 'config.changed': {
      const proof = proofOf(payload)
      return {
        ...application,
        ...payload,
        secrets: proof === 'secret' ? secrets : undefined,
        keys: proof === 'keys' ? keys : undefined,
      }
    }
    case 'secret.changed':
      return { ...application, secrets: [{ ...payload, createdAt: at.toISOString() }] }
    case 'secret.added':
      // Expired ones are dropped here, so that an application does not grow.
      return { ...application, secrets: [...living(secrets, at), { ...payload, createdAt: at.toISOString() }] }
    case 'secret.expiry.changed':
      return {
        ...application,
        secrets: secrets.map((secret) =>
          secret.secretId === payload.secretId ? { ...payload, createdAt: secret.createdAt } : secret,
        ),
      }
    case 'secret.removed':
      return { ...application, secrets: secrets.filter(({ secretId }) => secretId !== payload.secretId) }
    case 'key.added':
      // Expired keys are dropped here, so that an application does not grow.
      return { ...application, keys: [...living(keys, at), { ...payload, createdAt: at.toISOString() }] }
    case 'key.removed':
      return { ...application, keys: keys.filter(({ keyId }) => keyId !== payload.keyId) }
    case 'deactivated':
      return { ...application, inactive: true }
    case 'reactivated':
      return { ...application, inactive: undefined }
    case 'removed': {
      const { projectId, clientId } = application
      return { projectId, clientId, name: '', removed: true }
    }
  }
}

function added({ secretId, ...application }: NewApplication, at: Date): Application {
  return { ...application, ...(secretId && { secrets: [{ secretId, createdAt: at.toISOString() }] }) }
}

/** The keys that have not expired. */
export function livingKeys({ keys = [] }: Application, now: Date): ApplicationKey[] {
  return living(keys, now)
}

/** The secrets that have not expired. */
export function livingSecrets({ secrets = [] }: Application, now: Date): ClientSecret[] {
  return living(secrets, now)
}

function living<Credential extends { expiresAt?: string }>(credentials: Credential[], now: Date): Credential[] {
  return credentials.filter(({ expiresAt }) => expiresAt === undefined || Date.parse(expiresAt) > now.getTime())
}
