import type { PageAnswer, SignInByProviderRequest } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { toPage } from '../../../openid/authorization/answer.ts'
import { advance, closeRequest } from '../../../openid/request/request-row.ts'
import { openForm, signingIn } from '../../sign-in/opened-request.ts'
import { beginAtProvider } from '../../sign-in/provider/begin-at-provider.ts'
import { offeredProviders } from '../../sign-in/provider/offered-providers.ts'
import { linkHere } from '../../sign-in/provider/link-here.ts'
import { registerProved } from '../../sign-in/provider/register-proved.ts'
import { requestStateOf } from '../../sign-in/request-state.ts'

export async function signInByProvider(
  context: Context,
  request: SignInByProviderRequest,
  call: Call,
): Promise<PageAnswer> {
  const opened = await openForm(context, request, signingIn)
  if ('answer' in opened) return opened.answer
  const { row } = opened
  const page = toPage(row.id)
  if (request.action === 'cancel') {
    await closeRequest(context.sql, row.id, 'cancelled')
    return page
  }
  if (request.action === 'not-now') {
    const { proved: _, error: __, ...progress } = row.progress
    await orUnavailable(advance(context.keys, row.id, progress)(context.sql))
    return page
  }
  const state = await requestStateOf(context, opened, call)
  // Its page says what is wrong with the request.
  if ('notice' in state) return page
  if (request.action === '') {
    const provider = (await offeredProviders(context, opened, state)).find(({ idpId }) => idpId === request.idpId)
    return beginAtProvider(context, opened, { state, provider, keep: request.keep === 'on', byButton: true }, call)
  }
  if (request.action === 'link') return linkHere(context, opened, state, call)
  return registerProved(context, opened, request, call)
}
