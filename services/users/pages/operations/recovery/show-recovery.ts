import type { PageAnswer, ShowRecoveryRequest } from '#gen/roster/users/v1/sign_in_service'
import { redirect, toPage } from '../../../openid/authorization/answer.ts'
import type { Context } from '../../../context.ts'
import { brandedPath } from '../../../directory/email/page-link.ts'
import { openRequest, signingIn } from '../../sign-in/opened-request.ts'

/** It changes nothing, since programs that check mails open links. A browser keeps what stands behind the # of the link. */
export async function showRecovery(context: Context, request: ShowRecoveryRequest): Promise<PageAnswer> {
  const opened = await openRequest(context, request, signingIn)
  const elsewhere = redirect(brandedPath('/ui/reset-password', request.organizationId))
  if (!opened?.browser.isPresent) return elsewhere
  const { id, isOver, answer, progress } = opened.row
  const goesOn = !isOver && !answer && progress.recovery?.isAsked
  return goesOn ? toPage(id) : elsewhere
}
