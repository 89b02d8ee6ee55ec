import { randomUUID } from 'node:crypto'
import type { PageAnswer, RecoverRequest } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import { toPage } from '../../../openid/authorization/answer.ts'
import { advance, type Progress } from '../../../openid/request/request-row.ts'
import type { Context } from '../../../context.ts'
import { networkOf } from '../../../directory/rate-limits/token-buckets.ts'
import { forgetfulCall, linkTo } from '../../recovery/forgetful-call.ts'
import { mailCode, workFor } from '../../recovery/request-password-reset.ts'
import { openForm, signingIn } from '../../sign-in/opened-request.ts'
import { fixedPerson, requestStateOf } from '../../sign-in/request-state.ts'

/** Who presses the button again and again finds the code of each of these mails good, if it is the newest. */
const keptCodes = 5

/**
 * Answers before anybody is looked up, as RequestPasswordReset does: so neither the answer nor its time depends on whether
 * the name exists.
 */
export async function recover(context: Context, request: RecoverRequest, call: Call): Promise<PageAnswer> {
  const opened = await openForm(context, request, signingIn)
  if ('answer' in opened) return opened.answer
  const { row } = opened
  const next = async (progress: Progress) => {
    const { chosen, asksName } = row.progress
    await orUnavailable(advance(context.keys, row.id, { chosen, asksName, ...progress })(context.sql))
    return toPage(row.id)
  }
  const { recovery } = row.progress
  const loginName = recovery?.userId === undefined ? request.loginName : recovery.loginName
  if (request.action === 'back') return next({ loginName })
  if (request.action === 'begin') {
    const person = fixedPerson(await requestStateOf(context, opened, call))
    return next({
      recovery: person
        ? { loginName: person.knownName, userId: person.signedInUser.userId }
        : { loginName: request.loginName },
    })
  }
  if (!recovery) return toPage(row.id)
  if (loginName.trim() === '') return next({ recovery: { loginName: '' } })
  const [codeId, { userId, codeIds = [] }] = [randomUUID(), recovery]
  const isSameName = loginName === recovery.loginName
  const kept = isSameName ? codeIds.slice(1 - keptCodes) : []
  const work = { ...(await forgetfulCall(context, opened, call)), deadline: Date.now() + workFor }
  const page = await next({ recovery: { loginName, userId, codeIds: [...kept, codeId], isAsked: true } })
  const lane = networkOf(call.clientAddress) ?? call.clientAddress
  const asked = { codeId, urlTemplate: linkTo(context.config, row.id), userId }
  context.afterResponse.run(lane, () => mailCode(context, loginName, work, asked))
  return page
}
