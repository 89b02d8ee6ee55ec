import type { DeleteSessionRequest, DeleteSessionResponse } from '#gen/roster/users/v1/session_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { permitCredential } from '../../credentials/new-credential.ts'
import { ownerOf } from '../../sign-in/sessions.ts'
import type { Session, SessionEvent } from '../../vocabulary/session.ts'

export const deleteSession = {
  async permit({ sessionId }: DeleteSessionRequest, call: Call, holdsPermission: boolean, context: Context) {
    // Validation comes later.
    if (sessionId.includes('\0')) return
    const owner = await ownerOf(context, sessionId)
    if (owner) await permitCredential(owner, call, holdsPermission, context)
  },
  handle,
}

async function handle(
  { store }: Context,
  { sessionId }: DeleteSessionRequest,
  call: Call,
): Promise<DeleteSessionResponse> {
  return store.execute({
    aggregate: { type: 'session', id: sessionId },
    call,
    decide,
    respond: ({ after }) => ({ details: details(after) }),
  })
}

function decide({ state: session }: Aggregate<Session>): Decision<SessionEvent> {
  if (!session || session.ended) throw new RosterError('NOT_FOUND', 'SESSION_NOT_FOUND', 'There is no such session.')
  return { events: [{ type: 'ended', payload: { userId: session.userId } }], answer: undefined }
}
