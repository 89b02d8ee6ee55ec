import type { ExplainSignInRequest, ExplainSignInResponse } from '#gen/roster/users/v1/session_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import { readCursor, writeCursor } from '#lib/search/cursor'
import type { Context } from '../../context.ts'
import { groundsOf } from './grounds.ts'
import { findPastSignIns } from './past-sign-ins.ts'
import { findAsked, assess } from './assess.ts'
import { showChange } from '../../directory/search/show-change.ts'
import { existing } from '../../directory/states/user-state.ts'
import { humanOf, type User } from '../../directory/events/user.ts'

const [defaultLimit, mostSignIns] = [10, 20]

export async function explainSignIn(
  context: Context,
  request: ExplainSignInRequest,
  call: Call,
): Promise<ExplainSignInResponse> {
  const { sql, keys, store, personal } = context
  const { userId, application, limit, cursor } = request
  const user = await store.load<User>('user', userId)
  humanOf(existing(user?.state))
  const asked = { method: 'ExplainSignIn', request: { ...request, withTotal: false }, call }
  const [before] = readCursor(keys, asked) ?? []
  const known = await findAsked(context, request, call)
  const { $case, value } = application!
  const applicationId = known?.application.id ?? ($case === 'applicationId' ? value : '')
  const past = await findPastSignIns(
    sql,
    { userId, applicationId },
    before,
    Math.min(limit || defaultLimit, mostSignIns),
    call,
  )
  const assessment = await assess(context, request, known, user!, call)
  // Of what the caller has no other way to know of, it does not learn by its id that it is there.
  const isHidden = $case === 'applicationId' && !assessment.seesProject && cursor === '' && past.events.length === 0
  const unknown = isHidden ? await assess(context, request, undefined, user!, call) : assessment
  return {
    ...groundsOf(unknown, request),
    events: (await orUnavailable(personal.decryptEvents(sql, past.events))).map(showChange),
    nextCursor: past.next === undefined ? '' : writeCursor(keys, asked, [past.next]),
  }
}
