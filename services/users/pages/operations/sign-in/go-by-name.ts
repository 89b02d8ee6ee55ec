import type { PageAnswer, SignInRequest } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { toPage } from '../../../openid/authorization/answer.ts'
import { advance, type Progress } from '../../../openid/request/request-row.ts'
import { asksForCode } from '../../sign-in/asks-for-code.ts'
import type { OpenedRequest } from '../../sign-in/opened-request.ts'
import { beginAtProvider } from '../../sign-in/provider/begin-at-provider.ts'
import { providerOfName } from '../../sign-in/provider/by-domain.ts'
import { requestStateOf } from '../../sign-in/request-state.ts'
import { askForCode } from './mailed-code.ts'

/**
 * Goes on with a name that was asked for alone: to the provider of its domain, else to what the page asks for beside it. The domain
 * decides alone, so nobody learns who has the name.
 */
export async function goByName(
  context: Context,
  opened: OpenedRequest,
  request: SignInRequest,
  call: Call,
): Promise<PageAnswer> {
  const { row, browser } = opened
  const page = toPage(row.id)
  const state = await requestStateOf(context, opened, call)
  const loginName = request.loginName.trim()
  if ('notice' in state || !browser.isPresent || loginName === '') return page
  const { chosen, asksName, proved } = row.progress
  const keep = request.keep === 'on'
  const progress: Progress = { chosen, asksName, proved, loginName, keep, named: true }
  const next = { ...opened, row: { ...row, progress } }
  const provider = await providerOfName(context, opened, state, loginName)
  // Who typed the name wants to go there as whoever pressed a button. What an application filled in nobody chose.
  const byButton = plain(loginName) !== plain(row.parameters.loginHint.slice(0, 500)) && { byButton: true as const }
  if (provider) return beginAtProvider(context, next, { state, provider, keep, typed: loginName, ...byButton }, call)
  if (await asksForCode(context, next, state)) return askForCode(context, next, request, call)
  await orUnavailable(advance(context.keys, row.id, progress)(context.sql))
  return page
}

// A browser drops line breaks from what a page fills in.
function plain(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '').trim()
}
