import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { invalid, RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { InvitedTo } from '../../directory/events/invitation.ts'
import { confirmFault, type KnownApplication, loadApplication } from '../../openid/applications/find-application.ts'
import { redirect, show } from '../../openid/authorization/answer.ts'
import { originOf } from '../../openid/request/redirect-uri.ts'

type Place = Pick<InvitedTo, 'applicationId' | 'landingUri' | 'grants'>

/**
 * Refuses an application that no invitation of the organization may lead to: it is of neither the organization nor a project
 * that the invitation gives roles of. NOT_FOUND APPLICATION_NOT_FOUND; INVALID_ARGUMENT for a landingUri that
 * is none of it.
 */
export async function requireLanding(context: Context, place: Place, call: Call): Promise<void> {
  const { applicationId, landingUri } = place
  if (!applicationId) return
  const name = { applicationId }
  const copy = await loadApplication(context, name)
  const { known, fault } = await confirmFault(context, name, copy, call, (found) =>
    isOpenTo(found, place, call.organizationId) ? undefined : 'unknown',
  )
  if (fault || !known)
    throw new RosterError('NOT_FOUND', 'APPLICATION_NOT_FOUND', 'There is no such application for invitations.')
  if (landingUri && !originsOf(known).includes(new URL(landingUri).origin)) {
    const description = 'must have the origin of one of the redirect URIs of the application'
    throw invalid([{ field: 'landingUri', description }])
  }
}

function isOpenTo(known: KnownApplication | undefined, { grants }: Place, organizationId: string): boolean {
  const { application, project, isOrganizationOpen } = known ?? {}
  if (!application?.oidc || !application.isOpen || !project?.isOpen || !isOrganizationOpen) return false
  return application.organizationId === organizationId || grants.some(({ projectId }) => projectId === project.id)
}

function originsOf({ application }: KnownApplication): string[] {
  return (application.oidc?.redirectUris ?? []).map(originOf).filter((origin) => origin !== '' && !origin.includes('*'))
}

/** Where an accepted invitation leads to, and its name. Empty: to the own account. */
export async function findLanding(
  context: Pick<Context, 'sql' | 'config' | 'remembered'>,
  { applicationId, landingUri = '' }: Place,
): Promise<{ location: string; name: string }> {
  const none = { location: '', name: '' }
  if (!applicationId) return none
  const known = await loadApplication(context, { applicationId })
  if (!known?.application.isOpen || !known.project.isOpen || !known.isOrganizationOpen) return none
  const origins = originsOf(known)
  const { name } = known.application
  // It may be registered no more.
  if (landingUri !== '' && origins.includes(new URL(landingUri).origin)) return { location: landingUri, name }
  const [origin = ''] = origins
  return origin === '' ? none : { location: origin, name }
}

/** The way there, once it is accepted. */
export async function toLanding(context: Pick<Context, 'sql' | 'config'>, place: Place): Promise<PageAnswer> {
  const { location } = await findLanding(context, place)
  return location === '' ? redirect('/ui/account') : show({ $case: 'leaving', value: { location } })
}
