import type { DeleteSessionRequest, DeleteSessionResponse } from '#gen/roster/users/v1/session_service'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { permitCredential } from '../../../directory/machine-credentials/new-credential.ts'
import { endHalfDone } from '../../half-done-sessions.ts'
import { findPresented } from '../../presented-session.ts'
import { ownerOf, sessionNotFound } from '../../sessions.ts'
import type { Session, SessionEvent } from '../../events/session.ts'

export const deleteSession = {
  async permit(request: DeleteSessionRequest, call: Call, holdsPermission: boolean, context: Context) {
    const { sessionId, sessionToken } = request
    // Validation comes later.
    if (sessionId.includes('\0')) return
    if (sessionToken !== '' && (await findPresented(context, sessionId, sessionToken))) return
    const owner = await ownerOf(context, sessionId)
    if (owner) await permitCredential(owner, call, holdsPermission, context)
  },
  handle,
}

async function handle(
  { sql, store }: Context,
  { sessionId }: DeleteSessionRequest,
  call: Call,
): Promise<DeleteSessionResponse> {
  const halfDone = await endHalfDone(sql, sessionId)
  if (halfDone) return { details: halfDone }
  return store.execute({
    aggregate: { type: 'session', id: sessionId },
    call,
    decide,
    respond: ({ after }) => ({ details: details(after) }),
  })
}

function decide({ state: session }: Aggregate<Session>): Decision<SessionEvent> {
  if (!session || session.ended) throw sessionNotFound()
  return { events: [{ type: 'ended', payload: { userId: session.userId } }], answer: undefined }
}
