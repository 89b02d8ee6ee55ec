import type { EndSessionAtProviderRequest, EndSessionAtProviderResponse } from '#gen/roster/idp/v1/internal_service'
import type { Call } from '#lib/rpc/headers'
import { receiverOf } from '../../client-secrets.ts'
import type { Context } from '../../context.ts'
import { type LoggingOutWork, UpstreamError } from '../../protocols/protocol.ts'
import { signedOutUriOf } from '../../protocols/redirect-uri.ts'
import { protocolWorks, signsIn } from '../../protocols/registry.ts'
import { answerTakes, upstreamOf } from '../../protocols/upstream-of.ts'
import { protocolOf } from '../../show.ts'
import type { Idp } from '../../vocabulary.ts'

export async function endSessionAtProvider(
  context: Context,
  { idpId, state, idTokenHint, idTokenReceiver, uiLocales }: EndSessionAtProviderRequest,
  call: Call,
): Promise<EndSessionAtProviderResponse> {
  const nowhere = { url: '' }
  const found = await context.store.load<Idp>('idp', idpId)
  if (!found?.state.sessions?.logoutAtProvider || !signsIn(found.state)) return nowhere
  const protocol = protocolOf(found.state)
  const work = protocolWorks[protocol] as unknown as Partial<LoggingOutWork<typeof protocol>>
  if (!work.endSession) return nowhere
  const upstream = await upstreamOf(context, idpId, found.state, call.deadline - Date.now() - answerTakes)
  const returnUri = signedOutUriOf(context.publicUrl, idpId)
  // What another one has signed says whom that one knows.
  const hint = idTokenReceiver === receiverOf(found.state) ? idTokenHint || undefined : undefined
  try {
    const to = await work.endSession(upstream, { state, idTokenHint: hint, returnUri, uiLocales })
    return { url: to?.href ?? '' }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    return nowhere
  }
}
