import type { DecideRequest, PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { toPage } from '../../../openid/authorization/answer.ts'
import { giveConsent } from '../../../openid/consents/consent.ts'
import { openForm, signingIn } from '../../sign-in/opened-request.ts'
import { advance, type Progress } from '../../../openid/request/request-row.ts'
import { requestStateOf } from '../../sign-in/request-state.ts'
import { Superseded } from '../../../sessions/browsers/superseded.ts'
import type { Context } from '../../../context.ts'

export async function decide(context: Context, request: DecideRequest, call: Call): Promise<PageAnswer> {
  const opened = await openForm(context, request, signingIn)
  if ('answer' in opened) return opened.answer
  const { row } = opened
  const page = toPage(row.id)
  if (request.action === 'another-account') {
    await orUnavailable(advance(context.keys, row.id, { asksName: true }, null)(context.sql))
    return page
  }
  const state = await requestStateOf(context, opened, call)
  const chosen = 'chosen' in state ? state.chosen : undefined
  // Something else is missing by now: the page asks for it.
  if (!chosen || !('missing' in chosen.verdict)) return page
  const [lack] = chosen.verdict.missing
  if (lack.what !== 'consent' && lack.what !== 'click') return page
  const { sessionId, userId } = chosen.signedInUser
  const next = (decided: Progress) =>
    advance(context.keys, row.id, { ...row.progress, ...decided }, { sessionId, userId })
  if (request.action === 'deny') await orUnavailable(next({ decision: 'denied' })(context.sql))
  else if (lack.what === 'click') await orUnavailable(next({ decision: 'allowed' })(context.sql))
  else {
    const giving = { requestId: row.id, next: next({ decision: 'allowed' }) }
    await giveConsent(context, chosen.signedInUser, lack.scopes, giving, call).catch(async (error: unknown) => {
      if (error instanceof Superseded) return
      if (!(error instanceof RosterError) || error.reason !== 'LIMIT_REACHED') throw error
      await orUnavailable(next({ tooMany: true })(context.sql))
    })
  }
  return page
}
