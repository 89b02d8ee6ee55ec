import type { DeleteUserSessionsRequest, DeleteUserSessionsResponse } from '#gen/roster/users/v1/session_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { requireMayActOn } from '../../../directory/may-act-on.ts'
import { endSession } from '../../sessions.ts'
import { existing } from '../../../directory/states/user-state.ts'
import { canRenew, passwordCodeKey } from '../../../directory/events/password-code.ts'
import type { User, UserEvent } from '../../../directory/events/user.ts'

export const deleteUserSessions = {
  permit: ({ userId }: DeleteUserSessionsRequest, call: Call, _holdsPermission: boolean, context: Context) =>
    requireMayActOn(context, userId, call),
  handle,
}

async function handle(
  context: Context,
  { userId }: DeleteUserSessionsRequest,
  call: Call,
): Promise<DeleteUserSessionsResponse> {
  // Conditions are about the user, and the answer is yet to be made.
  const { once: _, ...bound } = call
  const { ifMatch: _match, ifNoneMatch: _noneMatch, ...keyed } = call
  // What applications have goes on without a session. So it ends for good, with all that comes of what is under way.
  const [given] = await orUnavailable(context.sql`select from authorizations where user_id = ${userId} limit 1`)
  const { after: user } = await context.store.execute({
    aggregate: { type: 'user', id: userId },
    reads: { code: passwordCodeKey(userId) },
    call: bound,
    decide({ state }: Aggregate<User>, now, { code }): Decision<UserEvent> {
      const { human } = existing(state)
      // So do a trusted browser, and what was proved beside the code of a forgotten password.
      const goesOn = given || human?.trustedBrowsers?.length || (human && canRenew(code.state, human, now))
      return { events: goesOn ? [{ type: 'signed.out', payload: {} }] : [], answer: undefined }
    },
  })
  const sessions = await orUnavailable(context.sql<{ id: string }[]>`
    select session_id as id from tokens where user_id = ${userId} and session_id <> '' and expires_at > roster_now()
  `)
  let failure: RosterError | undefined
  const answer = await context.store.executeAll<boolean, DeleteUserSessionsResponse>({
    commands: sessions.map(({ id }) => endSession(id)),
    call: keyed,
    lane: call.organizationId,
    respond(outcomes) {
      failure = outcomes.find((outcome) => outcome instanceof RosterError)
      return { details: details(user), ended: outcomes.filter((outcome) => outcome === true).length }
    },
  })
  if (failure) throw failure
  return answer
}
