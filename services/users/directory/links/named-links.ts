import { IDPState } from '#gen/roster/idp/v1/identity_provider_service'
import type { LookupProviderResponse } from '#gen/roster/idp/v1/internal_service'
import type { NewIDPLink } from '#gen/roster/users/v1/user_service'
import { invalid, RosterError } from '#lib/errors'
import { instance } from '#lib/instance'
import { permissionDenied } from '#lib/rpc/authorize'
import { holds } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { coversRole } from '#lib/rpc/roles'
import type { Context } from '../../context.ts'
import { type Link, mostLinks } from '../events/links.ts'
import { type NewLink, linking } from './link.ts'

interface Place {
  organizationId: string
  /** The path of a link in the request. */
  field: (at: number) => string
  /** The providers that this request has looked up already. */
  known?: Map<string, LookupProviderResponse> | undefined
  /** The person has proved to be the subject. */
  isProved?: boolean
  /** The person is the caller. */
  isOwn?: boolean
}

/**
 * The links that somebody names, for a person of an organization, each with whose word its subject is. NOT_FOUND
 * IDP_NOT_FOUND: a provider is neither the organization's nor the instance's. PERMISSION_DENIED: who has `user.write` in an
 * organization alone could take the subjects of the instance's providers from the people of all others. INVALID_ARGUMENT
 * VALIDATION_FAILED.
 */
export async function namedLinks(
  { idp }: Pick<Context, 'idp'>,
  named: readonly NewIDPLink[],
  { organizationId, field, known = new Map(), isProved = false, isOwn = false }: Place,
  call: Call,
): Promise<NewLink[]> {
  const ids = [...new Set(named.map(({ idpId }) => idpId))]
  if (ids.length < named.length)
    throw invalid([{ field: field(named.length - 1), description: 'must be of a provider each' }])
  for (const idpId of ids) if (!known.has(idpId)) known.set(idpId, await lookup(idp, idpId, organizationId, call))
  const isTrusted = isProved || isOwn || coversRole(call.caller.instanceRoles, instance.administratorRole)
  return named.map(({ idpId, userId, userName, issuer: given }, at): NewLink => {
    const { issuer, organizationId: owner } = known.get(idpId)!
    if (owner === instance.id && !isProved && !holds(call.caller, 'user.write')) throw permissionDenied()
    const fault = faultOf(given, issuer)
    if (fault) throw invalid([{ field: `${field(at)}.issuer`, description: fault }])
    return {
      idpId,
      subject: userId,
      issuer: given || issuer,
      ...(userName && { userName }),
      ...(!isTrusted && { named: true }),
    }
  })
}

async function lookup(idp: Context['idp'], idpId: string, organizationId: string, call: Call) {
  const found = await idp.lookupProvider({ idpId }, call)
  const isTheirs = [organizationId, instance.id].includes(found.organizationId)
  if (!isTheirs || found.state === IDPState.IDP_STATE_UNSPECIFIED)
    throw new RosterError('NOT_FOUND', 'IDP_NOT_FOUND', 'There is no such identity provider.')
  return found
}

function faultOf(given: string, issuer: string): string | undefined {
  if (given === '') return issuer === '' ? 'must be set: the provider has one for each tenant' : undefined
  // Some providers end their issuer with a slash where their record has none.
  const isSame = given.replace(/\/$/, '') === issuer.replace(/\/$/, '')
  return issuer === '' || isSame ? undefined : `must be that of the provider`
}

/** What links a user to these. ALREADY_EXISTS IDP_LINK_EXISTS, which does not say whose another link is. */
export function linkingAll(links: readonly NewLink[]) {
  const made = links.map(linking)
  return {
    events: made.flatMap(({ events }) => events),
    claims: made.flatMap(({ claims }) => claims.map((claim) => ({ ...claim, taken: linkExists() }))),
  }
}

/** ALREADY_EXISTS IDP_LINK_EXISTS; RESOURCE_EXHAUSTED IDP_LINKS_FULL. */
export function refuseMore(links: readonly Link[], idpId: string): void {
  if (links.some((one) => one.idpId === idpId)) throw linkExists()
  if (links.length >= mostLinks)
    throw new RosterError('RESOURCE_EXHAUSTED', 'IDP_LINKS_FULL', `A user has ${mostLinks} identity providers at most.`)
}

function linkExists() {
  const message = 'The user is linked to this identity provider, or another user is linked to this account of it.'
  return new RosterError('ALREADY_EXISTS', 'IDP_LINK_EXISTS', message)
}
