import type { SignLogoutTokenRequest, SignLogoutTokenResponse } from '#gen/roster/users/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import { loadApplication } from '../openid/applications/find-application.ts'
import type { Context } from '../context.ts'
import { makeLogoutToken } from '../openid/logout/logout-token.ts'
import type { Session } from '../sessions/events/session.ts'

/** Only of a session that has ended: no living session is signed out of an application by this. */
export async function signLogoutToken(
  context: Context,
  { sessionId, applicationId }: SignLogoutTokenRequest,
): Promise<SignLogoutTokenResponse> {
  const [[told], known, session] = await Promise.all([
    orUnavailable(context.sql`
      select from session_applications where session_id = ${sessionId} and application_id = ${applicationId}
    `),
    loadApplication(context, { applicationId }),
    context.store.load<Session>('session', sessionId),
  ])
  const { oidc, clientId } = known?.application ?? {}
  if (!told || !session?.state.ended || !oidc?.backChannelLogoutUri) return { uri: '', logoutToken: '' }
  const ids = { sub: session.state.userId, aud: clientId!, sid: sessionId }
  return { uri: oidc.backChannelLogoutUri, logoutToken: await makeLogoutToken(context, oidc, ids, session.readAt) }
}
