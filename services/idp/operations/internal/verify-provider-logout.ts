import type { VerifyProviderLogoutRequest, VerifyProviderLogoutResponse } from '#gen/roster/idp/v1/internal_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { type LoggingOutWork, UpstreamError } from '../../protocols/protocol.ts'
import { protocolWorks, signsIn } from '../../protocols/registry.ts'
import { answerTakes, upstreamOf } from '../../protocols/upstream-of.ts'
import { protocolOf } from '../../show.ts'
import { type Idp, idpNotFound } from '../../vocabulary.ts'
import { isFirst } from './once.ts'

export async function verifyProviderLogout(
  context: Context,
  { idpId, logoutToken }: VerifyProviderLogoutRequest,
  call: Call,
): Promise<VerifyProviderLogoutResponse> {
  const found = await context.store.load<Idp>('idp', idpId)
  const protocol = found && protocolOf(found.state)
  const work = protocol && (protocolWorks[protocol] as unknown as Partial<LoggingOutWork<typeof protocol>>)
  if (!found || !signsIn(found.state) || !work?.loggedOut) throw idpNotFound()
  const upstream = await upstreamOf(context, idpId, found.state, call.deadline - Date.now() - answerTakes)
  try {
    const { once, ...who } = await work.loggedOut(upstream, logoutToken)
    if (!(await isFirst(context, idpId, once))) throw new UpstreamError('not-believed', 'The token has come before.')
    return { fault: '', ...who }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    return { fault: error.fault, issuer: '', subject: '', sid: '' }
  }
}
