import { SignInError } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import type { BegunAtProvider, RequestRow } from '../../../openid/request/request-row.ts'
import { matchedRoles } from '../../../sessions/factors/provider/tell-grants.ts'
import { askedOf, isNotAvailable } from './begin-at-provider.ts'
import type { ProvedNow } from './first-sign-in.ts'
import type { ProviderAnswer } from './provider-answer.ts'

/** A provider counts in whole seconds, and its clock may be behind. In milliseconds. */
const tolerance = 10_000

/** Whom the answer of a provider proves, or what a page says. `withClaims`: the claims are wanted as they came. */
export async function finishAtProvider(
  context: Context,
  { row, now }: { row: Pick<RequestRow, 'id' | 'beganAt'>; now: Date },
  begun: BegunAtProvider,
  { answer, tokens, cameTo }: ProviderAnswer,
  call: Call,
  withClaims = false,
): Promise<ProvedNow | SignInError> {
  const organizationId = await ownerOf(context, begun.idpId)
  try {
    // What the application asks of the time is asked below, so that the page can say so.
    const { maxAge: _, ...asked } = askedOf(begun, { requestId: row.id, organizationId, loginHint: '' })
    const found = await context.idp.finishProviderSignIn({ begun: asked, answer, tokens, cameTo, withClaims }, call)
    if (found.fault !== '') {
      context.log.info(
        { idpId: begun.idpId, fault: found.fault, requestId: call.requestId },
        'a provider proved nobody',
      )
      return faults[found.fault] ?? SignInError.SIGN_IN_ERROR_PROVIDER_INVALID
    }
    const signedInAt = found.authTime === undefined ? undefined : Math.min(now.getTime(), found.authTime + tolerance)
    if (!isFresh(signedInAt, begun, { beganAt: row.beganAt, now })) return SignInError.SIGN_IN_ERROR_PROVIDER_NOT_FRESH
    const { issuer, subject, autoRegister, refusesLinking, asksFirst, ownerOrganizationId, claims } = found
    const { secondFactors, isAutoUpdate, sid, said, tokens: kept } = found
    return {
      idpId: begun.idpId,
      issuer,
      subject,
      autoRegister,
      refusesLinking,
      asksFirst,
      ownerOrganizationId,
      claims: claims!,
      counted: secondFactors,
      isAutoUpdate,
      roles: matchedRoles(found),
      provedAt: signedInAt === undefined ? undefined : new Date(signedInAt).toISOString(),
      keep: begun.keep,
      byButton: begun.byButton,
      sid,
      tokens: kept,
      said,
    }
  } catch (error) {
    if (!isNotAvailable(error)) throw error
    return SignInError.SIGN_IN_ERROR_PROVIDER_NOT_AVAILABLE
  }
}

const faults: Record<string, SignInError> = {
  denied: SignInError.SIGN_IN_ERROR_PROVIDER_DENIED,
  'not-available': SignInError.SIGN_IN_ERROR_PROVIDER_NOT_AVAILABLE,
}

// `prompt=login` and `max_age` are for the person at the provider.
function isFresh(
  signedInAt: number | undefined,
  { promptsLogin, maxAge }: BegunAtProvider,
  { beganAt, now }: { beganAt: Date; now: Date },
): boolean {
  if (!promptsLogin && maxAge === undefined) return true
  if (signedInAt === undefined) return false
  // As `judge` has it: younger than the request, or as young as is asked for.
  if (signedInAt > beganAt.getTime()) return true
  return !promptsLogin && signedInAt >= now.getTime() - maxAge! * 1000
}

async function ownerOf({ sql }: Context, idpId: string): Promise<string> {
  const [row] = await orUnavailable(sql<{ organizationId: string }[]>`
    select organization_id as "organizationId" from identity_providers where idp_id = ${idpId}
  `)
  return row?.organizationId ?? ''
}
