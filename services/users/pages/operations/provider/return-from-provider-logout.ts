import {
  NoticeReason,
  type PageAnswer,
  type ReturnFromProviderLogoutRequest,
} from '#gen/roster/users/v1/sign_in_service'
import type { Context } from '../../../context.ts'
import { notice, redirect } from '../../../openid/authorization/answer.ts'
import { branded } from '../../sign-in/branded.ts'
import { readWayBack } from '../../sign-out/sign-out-there.ts'

export async function returnFromProviderLogout(
  context: Context,
  { idpId, state }: ReturnFromProviderLogoutRequest,
): Promise<PageAnswer> {
  const back = await readWayBack(context, idpId, state)
  if (back && back.location !== '') return redirect(back.location)
  const page = { ...notice(NoticeReason.NOTICE_REASON_SIGNED_OUT), uiLocales: back?.uiLocales ?? '' }
  return branded(context, page, { clientId: back?.clientId ?? '', scope: '' })
}
