import type {
  RetrieveIdentityProviderIntentRequest,
  RetrieveIdentityProviderIntentResponse,
  StartIdentityProviderIntentRequest,
  StartIdentityProviderIntentResponse,
} from '#gen/roster/users/v1/user_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError, type Violation } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { checkTemplate, linkTargets } from '../../../directory/email/link.ts'
import { findLinked } from '../../factors/provider/provider.ts'
import { beginIntent, findProvedIntent } from '../../intents/intent-rows.ts'

export const startIdentityProviderIntent = {
  check({ config }: Context, { urls, maxAge }: StartIdentityProviderIntentRequest): Violation[] {
    const check = (url: string, field: string) =>
      url.includes('#')
        ? [{ field, description: 'must have no fragment' }]
        : checkTemplate(url.replaceAll(/\{\{\.\w+\}\}/g, '{'), linkTargets(config, true), field)
    const isWhole = !maxAge || (maxAge.nanos === 0 && maxAge.seconds >= 0 && maxAge.seconds < 2 ** 31)
    return [
      // Where they are missing, the contract has said so.
      ...(urls ? check(urls.successUrl, 'urls.successUrl') : []),
      ...(urls ? check(urls.failureUrl, 'urls.failureUrl') : []),
      ...(isWhole ? [] : [{ field: 'maxAge', description: 'must be whole seconds, and none of the past' }]),
    ]
  },
  // Each one has an end of its own.
  ignoresKey: () => true,

  async handle(
    context: Context,
    { idpId, urls, loginHint, promptsLogin, maxAge }: StartIdentityProviderIntentRequest,
    { caller }: Call,
  ): Promise<StartIdentityProviderIntentResponse> {
    const [provider] = await orUnavailable(context.sql<{ organizationId: string }[]>`
      select organization_id as "organizationId" from identity_providers where idp_id = ${idpId} and signs_in
    `)
    if (!provider) throw new RosterError('NOT_FOUND', 'IDP_NOT_FOUND', 'There is no such identity provider.')
    const [successUrl, failureUrl] = [urls!.successUrl, urls!.failureUrl]
    const asked = { idpId, ...provider, successUrl, failureUrl, loginHint, promptsLogin, maxAge: maxAge?.seconds }
    const { id, expiresAt } = await beginIntent(context, caller.userId, asked)
    return {
      authUrl: new URL(`/ui/login/intents/${id}`, context.config.PUBLIC_URL).href,
      idpIntentId: id,
      expirationDate: expiresAt,
    }
  },
}

export async function retrieveIdentityProviderIntent(
  context: Context,
  proof: RetrieveIdentityProviderIntentRequest,
  { caller }: Call,
): Promise<RetrieveIdentityProviderIntentResponse> {
  const { proved } = (await findProvedIntent(context, proof, caller.userId)).progress
  const { idpId, issuer, subject, userName, said } = proved
  const rawInformation = said === '' ? undefined : (JSON.parse(said) as Record<string, unknown>)
  const user = await findLinked(context, proved)
  return {
    idpInformation: { idpId, userId: subject, userName, issuer, rawInformation },
    userId: user?.userId ?? '',
  }
}
