import type { RemoveMyProviderRequest } from '#gen/roster/users/v1/account_service'
import type { AccountPage, PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { Candidate } from '../../openid/authorization/candidates.ts'
import { unlink } from '../../sessions/operations/idp-links/idp-links.ts'
import { openAccount } from './open-account.ts'

/** The identity providers that sign a person in, with the names of those that serve. */
export function providersPart({ user, signedInUser }: Candidate): Pick<AccountPage, 'providers'> {
  const { providers } = signedInUser.policy
  return {
    providers: (user.human?.links ?? []).map(({ idpId, userName = '', linkedAt }) => ({
      idpId,
      name: providers.find((one) => one.idpId === idpId)?.name ?? '',
      userName,
      creationDate: new Date(linkedAt),
    })),
  }
}

export async function removeMyProvider(
  context: Context,
  request: RemoveMyProviderRequest,
  call: Call,
): Promise<PageAnswer> {
  const opened = await openAccount(context, request, 'providers', call)
  if ('answer' in opened) return opened.answer
  const { userId } = opened
  try {
    await unlink(context, { userId, idpId: request.idpId, of: () => true }, opened.call)
    return opened.to('sign-in', 'provider-removed')
  } catch (error) {
    const outcome = error instanceof RosterError ? outcomes[error.reason] : undefined
    if (outcome === undefined) throw error
    return opened.to('providers', outcome)
  }
}

const outcomes: Record<string, string> = {
  LAST_FACTOR: 'provider-last',
  // It was removed in another tab.
  IDP_LINK_NOT_FOUND: 'provider-removed',
}
