import type { PageAnswer, ShowSignOutRequest } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import { openRequest, signingOut } from '../../sign-in/opened-request.ts'
import { requestUnknown } from '../../sign-in/way-back.ts'
import type { Context } from '../../../context.ts'
import { showSignOutPage } from '../../sign-out/sign-out.ts'

export async function showSignOut(context: Context, request: ShowSignOutRequest, call: Call): Promise<PageAnswer> {
  const opened = await openRequest(context, request, signingOut)
  return opened ? showSignOutPage(context, opened, call) : requestUnknown(context)
}
