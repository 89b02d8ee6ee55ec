import type { AddIdentityProviderRequest, ReplaceIdentityProviderRequest } from '#gen/roster/idp/v1/provider_service'
import type { Violation } from '#lib/errors'
import { checkUrls } from '../check-urls.ts'
import type { Context } from '../context.ts'
import { checkOidcPreset } from '../presets.ts'
import { gitlab, isGithub } from './addresses.ts'
import { type KindSettings, toRecord } from './to-record.ts'

type Request = AddIdentityProviderRequest | ReplaceIdentityProviderRequest

const longestKey = 1000

/** Refuses what the rules of the contract cannot: addresses, secrets of other kinds, and what is another kind. */
export function checkKind(context: Context, request: Request): Violation[] {
  const { config, options } = request
  if (!config) return []
  const automatic = options?.isAutoCreation && !options.isCreationAllowed
  return [
    ...fault('options.isAutoCreation', automatic && 'must be false where is_creation_allowed is'),
    ...inside(config.$case, checkAddresses(context, config)),
    ...checkSecrets(config, request),
  ]
}

function checkAddresses(context: Context, config: KindSettings): Violation[] {
  const { protocol, configuration } = toRecord(config)
  if (protocol === 'jwt') return checkUrls(['keysEndpoint'], ['jwtEndpoint'])(context, configuration)
  if (protocol === 'oidc')
    return [
      ...checkUrls(['issuer'])(context, configuration),
      ...fault(
        'issuer',
        config.$case === 'gitlabSelfHosted' && configuration.issuer === gitlab && 'is that of the kind gitlab',
      ),
    ]
  return [
    ...checkUrls(['tokenEndpoint', 'userEndpoint'], ['authorizationEndpoint'])(context, configuration),
    ...fault(
      'authorizationEndpoint',
      config.$case === 'githubEs' && isGithub(configuration) && 'is that of the kind github',
    ),
  ]
}

// A replacement needs no secret.
function checkSecrets(config: KindSettings, request: Request): Violation[] {
  const { clientSecret, privateKey } = request
  const isNew = !('idpId' in request)
  const hasKey = config.$case === 'apple'
  const hasSecret = !hasKey && config.$case !== 'jwt'
  const key = privateKey.length > 0 ? Buffer.from(privateKey).toString() : undefined
  return [
    ...fault('clientSecret', isNew && hasSecret && clientSecret === '' && 'must not be empty'),
    ...fault('clientSecret', !hasSecret && clientSecret !== '' && 'must be empty: the provider has none'),
    ...fault('privateKey', isNew && hasKey && !key && 'must not be empty'),
    ...fault('privateKey', !hasKey && key && 'must be empty: the provider of Apple alone has one'),
    ...fault('privateKey', privateKey.length > longestKey && `must not have more than ${longestKey} bytes`),
    ...(hasKey && key ? checkKey(config, key) : []),
  ]
}

function checkKey(config: KindSettings, clientSecret: string): Violation[] {
  const { protocol, configuration } = toRecord(config)
  if (protocol !== 'oidc') return []
  const faults = checkOidcPreset({ ...configuration, clientSecret })
  return faults.flatMap(({ field, description }) => fault('privateKey', field === 'clientSecret' && description))
}

function inside(kind: string, violations: Violation[]): Violation[] {
  return violations.map(({ field, ...rest }) => ({ field: `${kind}.${field}`, ...rest }))
}

function fault(field: string, description: string | false | undefined): Violation[] {
  return description ? [{ field, description }] : []
}
