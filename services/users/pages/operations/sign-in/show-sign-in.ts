import type { PageAnswer, ShowSignInRequest } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import { branded } from '../../sign-in/branded.ts'
import { openRequest, signingIn } from '../../sign-in/opened-request.ts'
import { showRequest } from '../../sign-in/show-request.ts'
import { requestUnknown } from '../../sign-in/way-back.ts'
import type { Context } from '../../../context.ts'
import { rememberReads } from '../../../remember-reads.ts'

export async function showSignIn(own: Context, request: ShowSignInRequest, call: Call): Promise<PageAnswer> {
  const context = rememberReads(own)
  const opened = await openRequest(context, request, signingIn)
  return opened
    ? branded(context, await showRequest(context, opened, call), opened.row.parameters)
    : requestUnknown(context)
}
