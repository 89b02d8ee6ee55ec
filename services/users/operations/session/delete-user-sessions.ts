import type { DeleteUserSessionsRequest, DeleteUserSessionsResponse } from '#gen/roster/users/v1/session_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { orUnavailable } from '#lib/eventstore/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { permitAddressOf } from '../../roles-covered.ts'
import { existing } from '../../states/user-state.ts'
import type { Session, SessionEvent } from '../../vocabulary/session.ts'
import type { User } from '../../vocabulary/user.ts'

const portion = 200

export const deleteUserSessions = {
  permit: ({ userId }: DeleteUserSessionsRequest, call: Call, _holdsPermission: boolean, context: Context) =>
    permitAddressOf(context, userId, call),
  handle,
}

async function handle(
  context: Context,
  { userId }: DeleteUserSessionsRequest,
  call: Call,
): Promise<DeleteUserSessionsResponse> {
  const { caller, requestId, deadline, ifMatch } = call
  // If-Match is about the user.
  const { after: user } = await context.store.execute({
    aggregate: { type: 'user', id: userId },
    call: { caller, requestId, deadline, ...(ifMatch !== undefined && { ifMatch }) },
    decide({ state }: Aggregate<User>): Decision {
      existing(state)
      return { events: [], answer: undefined }
    },
  })
  const sessions = await orUnavailable(context.sql<{ id: string }[]>`
    select session_id as id from tokens where user_id = ${userId} and session_id <> '' and expires_at > now()
  `)
  let ended = 0
  // Other commands come in between, however many sessions there are.
  for (let at = 0; at < sessions.length; at += portion) {
    const some = sessions.slice(at, at + portion)
    const answers = await Promise.all(some.map(({ id }) => end(context, id, call)))
    ended += answers.filter(Boolean).length
  }
  return { details: details(user), ended }
}

// Each is a command of its own, which has no answer to store.
async function end({ store }: Context, id: string, { caller, requestId, deadline }: Call): Promise<boolean> {
  const { answer } = await store.execute({
    aggregate: { type: 'session', id },
    call: { caller, requestId, deadline },
    decide: ({ state }: Aggregate<Session>): Decision<SessionEvent, boolean> =>
      state && !state.ended
        ? { events: [{ type: 'ended', payload: { userId: state.userId } }], answer: true }
        : { events: [], answer: false },
  })
  return answer
}
