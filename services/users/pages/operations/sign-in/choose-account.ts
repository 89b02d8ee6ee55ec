import type { ChooseAccountRequest, PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { toPage } from '../../../openid/authorization/answer.ts'
import { isAdmitted } from '../../../openid/authorization/candidates.ts'
import type { SignedInUser } from '../../../openid/authorization/facts-of.ts'
import { openForm, type OpenedRequest, signingIn } from '../../sign-in/opened-request.ts'
import { advance, stillOpen } from '../../../openid/request/request-row.ts'
import { requestStateOf } from '../../sign-in/request-state.ts'
import { renewValue } from '../../../sessions/browsers/session-cookie.ts'
import { keepSession } from '../../../sessions/browsers/browser-sessions.ts'
import { Superseded } from '../../../sessions/browsers/superseded.ts'
import type { Context } from '../../../context.ts'
import type { Session, SessionEvent } from '../../../sessions/events/session.ts'

export async function chooseAccount(context: Context, request: ChooseAccountRequest, call: Call): Promise<PageAnswer> {
  const opened = await openForm(context, request, signingIn)
  if ('answer' in opened) return opened.answer
  const { row } = opened
  const page = toPage(row.id)
  if (request.sessionId === '') {
    await orUnavailable(advance(context.keys, row.id, { asksName: true }, null)(context.sql))
    return page
  }
  const state = await requestStateOf(context, opened, call)
  const chosen =
    'people' in state && state.people.find(({ signedInUser }) => signedInUser.sessionId === request.sessionId)
  // Who has been signed out meanwhile, or may not come, is not on the page any more.
  if (!chosen || !isAdmitted(chosen)) return page
  try {
    return { ...page, newBrowser: await choose(context, opened, chosen.signedInUser, call) }
  } catch (error) {
    if (error instanceof Superseded) return page
    throw error
  }
}

// Returns the new value of the cookie.
function choose(
  { store, keys }: Context,
  { browser, row }: OpenedRequest,
  { sessionId, userId, application }: SignedInUser,
  { requestId, deadline }: Call,
): Promise<string> {
  const { newValue, writes, guard } = renewValue(browser)
  return store.execute({
    aggregate: { type: 'session', id: sessionId },
    call: { caller: { userId }, requestId, deadline },
    decide({ state }: Aggregate<Session>): Decision<SessionEvent> {
      if (!state || state.ended) throw new Superseded()
      return {
        events: [{ type: 'chosen', payload: { userId, applicationId: application.id } }],
        writes: [
          keepSession(browser, userId, sessionId),
          ...writes,
          advance(keys, row.id, { chosen: true }, { sessionId, userId }),
        ],
        guards: [guard, stillOpen(row.id)],
        answer: undefined,
      }
    },
    respond: () => newValue,
  })
}
