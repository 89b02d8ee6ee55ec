import type { ExplainSignInRequest } from '#gen/roster/users/v1/session_service'
import { orUnavailable } from '#lib/database/database'
import { permissionDenied } from '#lib/rpc/authorize'
import { holds } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { canonicalName } from '#lib/search/canonical-name'
import type { Context } from '../../context.ts'
import { canonicalAddress } from '../../directory/email/address.ts'
import { userNotFound } from '../../directory/events/user-not-found.ts'
import type { User } from '../../directory/events/user.ts'
import { findLoginUser } from '../../directory/login-names/meaning.ts'
import { meantName } from '../../directory/meant-name.ts'
import type { KnownApplication } from '../../openid/applications/find-application.ts'
import { onlyOrganization } from '../../openid/request/request-organization.ts'
import { scopeOf } from './asked-request.ts'

/** The user whom a login name names in a request for an explanation. */
export interface NamedPerson {
  userId: string
  /** The name means the user only in the acting organization, or it is an address that is not verified. */
  fault: 'another' | 'unverified' | undefined
}

/**
 * Whom the name means on the page of the application, if the caller may read that user. Else the user of the acting
 * organization who has the name, or the address. Permissions are those that the caller came with, so that the time of
 * the answer says nothing of users of other organizations. PERMISSION_DENIED; NOT_FOUND USER_NOT_FOUND.
 */
export async function findNamed(
  context: Context,
  { loginName, scopes }: Pick<ExplainSignInRequest, 'loginName' | 'scopes'>,
  known: KnownApplication | undefined,
  call: Call,
): Promise<NamedPerson> {
  const { caller, organizationId: acting } = call
  const may = (organizationId: string) => holds(caller, 'session.read', organizationId)
  const asked = onlyOrganization(scopeOf(scopes), known?.application ?? {}) ?? ''
  const meant = await findLoginUser(context, loginName, { ...call, organizationId: asked })
  if (meant && (meant.userId === caller.userId || may(meant.organizationId)))
    return { userId: meant.userId, fault: undefined }
  if (!may(acting) && !may(caller.organizationId)) throw permissionDenied()
  const own = may(acting) ? await findOwn(context, loginName, call) : undefined
  if (!own) throw userNotFound()
  return own
}

async function findOwn(context: Context, loginName: string, call: Call): Promise<NamedPerson | undefined> {
  const meant = await findLoginUser(context, loginName, call)
  if (meant) return { userId: meant.userId, fault: 'another' }
  const address = canonicalAddress(meantName(canonicalName(loginName)))
  if (!address.includes('@')) return undefined
  const rows = await orUnavailable(context.sql<{ userId: string }[]>`
    select user_id as "userId" from found_addresses
    where organization_id = ${call.organizationId} and email = ${address} order by user_id limit 20
  `)
  const users = await Promise.all(rows.map(({ userId }) => context.store.load<User>('user', userId)))
  const found = users.find((user) => user?.state.human?.isVerified === false)
  return found && { userId: found.id, fault: 'unverified' }
}
