import type { AuthenticateRequest, AuthenticateResponse } from '#gen/roster/users/v1/internal_service'
import { RosterError } from '#lib/errors'
import { everybodyOf, everythingOf } from '#lib/events/hints'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import { closureKey } from '../openid/applications/closures.ts'
import { findPerson } from '../openid/authorization/later-facts.ts'
import type { Context } from '../context.ts'
import { isConsole } from '../openid/applications/console-application.ts'
import { readScope } from '../openid/scope.ts'
import { isComplete } from '../sessions/session-tokens.ts'
import { noteUse } from '../directory/machine-credentials/credential-uses.ts'
import { type FoundToken, findStored } from '../directory/tokens/token.ts'

export async function authenticate(
  context: Context,
  { tokenHash }: AuthenticateRequest,
  call: Call,
): Promise<AuthenticateResponse> {
  const stored = await findStored(context, tokenHash)
  const token = stored?.over === undefined ? stored?.token : undefined
  const known =
    token &&
    (token.authorizationId === undefined ? await ofUser(context, token, call) : await aboutPerson(context, token, call))
  if (!token || !known) {
    // For some minutes after its end it is known what it was.
    const what = stored?.over === 'expired' ? 'has expired' : 'is not valid'
    throw new RosterError('UNAUTHENTICATED', 'TOKEN_INVALID', `The bearer token ${what}.`)
  }
  noteUse(context, token)
  const { userId, organizationId, human, sessionId, expiresAt, access, scope = access?.scope } = token
  const forProject = access !== undefined && readScope(access.scope).projectId !== undefined
  return {
    userId,
    organizationId,
    human,
    sessionId,
    expirationDate: expiresAt ?? undefined,
    scope,
    forProject,
    dpopThumbprint: access?.dpopThumbprint ?? undefined,
    authorizationId: '',
    ...known,
    // Userinfo, which takes it, asks itself.
    brief: known.brief && !forProject,
  }
}

type Ground = Pick<AuthenticateResponse, 'standsOn' | 'brief'>

// All other tokens stand on their user alone; that of a session on the login policy, too.
async function ofUser(context: Context, token: FoundToken, call: Call): Promise<Ground | undefined> {
  if (!(await isComplete(context, token, call))) return undefined
  return { standsOn: token.sessionId === '' ? [] : [everybodyOf(instance.id)], brief: false }
}

// What an application has of a person ends with all that it stands on. It acts for the session that it began with.
async function aboutPerson(
  context: Context,
  { authorizationId, expiresAt }: FoundToken,
  call: Call,
): Promise<(Partial<AuthenticateResponse> & Ground) | undefined> {
  const person = await findPerson(context, 'token', authorizationId!, call)
  if (!person) return undefined
  const { authorization, signedInUser, allowed } = person
  const { application, project, sessionEnd } = allowed
  return {
    authorizationId: authorizationId!,
    sessionId: authorization.state.sessionId,
    expirationDate: sessionEnd && sessionEnd < expiresAt! ? sessionEnd : expiresAt!,
    standsOn: [
      everybodyOf(instance.id),
      everybodyOf(project.organizationId),
      everythingOf(closureKey('application', application.id).id),
      everythingOf(closureKey('project', project.id).id),
    ],
    // Whether the project admits the person is asked of grants, which announces no such change. A session of the console
    // ends by the clock, and lasts as long as it is used.
    brief: signedInUser.access !== undefined || isConsole(application),
  }
}
