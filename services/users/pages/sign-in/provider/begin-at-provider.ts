import { randomBytes } from 'node:crypto'
import { type PageAnswer, SignInError } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import { limitsHit } from '#lib/limits-hit'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { networkOf, rateLimitsFor, takeFromBuckets } from '../../../directory/rate-limits/token-buckets.ts'
import { show, toPage } from '../../../openid/authorization/answer.ts'
import { advance, type BegunAtProvider, type Progress } from '../../../openid/request/request-row.ts'
import type { KnownProvider } from '../../../sessions/factors/provider/known-providers.ts'
import type { OpenedRequest } from '../opened-request.ts'
import { fixedPerson, type RequestState } from '../request-state.ts'
import { noteRefusal } from './note-refusal.ts'

interface Begin {
  state: RequestState
  /** Undefined: it does not serve here, or not any more. */
  provider: KnownProvider | undefined
  keep: boolean
  /** What the person typed. */
  typed?: string
  /** The person pressed the button of the provider. */
  byButton?: true
}

/** Leads to a provider. What the application asks of the sign-in goes on to it. */
export async function beginAtProvider(
  context: Context,
  opened: OpenedRequest,
  { state, provider, keep, typed = '', byButton }: Begin,
  call: Call,
): Promise<PageAnswer> {
  const { row } = opened
  const next = async (progress: Progress) => {
    await orUnavailable(advance(context.keys, row.id, progress)(context.sql))
    return toPage(row.id)
  }
  const again = (error: SignInError) => next({ ...row.progress, retryAt: undefined, error })
  if (!provider) return again(SignInError.SIGN_IN_ERROR_PROVIDER_NOT_AVAILABLE)
  if (await isThrottled(context, call.clientAddress)) return again(SignInError.SIGN_IN_ERROR_PROVIDER_THROTTLED)
  const { idpId } = provider
  const { prompts = [], maxAge } = state.asked ?? {}
  const begun: BegunAtProvider = {
    ...newSecrets(),
    idpId,
    promptsLogin: prompts.includes('login'),
    maxAge,
    keep,
    headerName: '',
    ...(byButton && { byButton }),
  }
  try {
    const { url, headerName } = await context.idp.beginProviderSignIn(
      askedOf(begun, {
        requestId: row.id,
        organizationId: provider.organizationId,
        loginHint: typed.slice(0, 200) || hintOf(opened, state),
      }),
      call,
    )
    const { error: _, retryAt: __, proved: ___, ...progress } = row.progress
    await next({ ...progress, provider: { ...begun, headerName } })
    return show({ $case: 'leaving', value: { location: url } })
  } catch (error) {
    if (!isNotAvailable(error)) throw error
    context.log.warn({ idpId, err: error }, 'an identity provider cannot be used')
    const notServing = SignInError.SIGN_IN_ERROR_PROVIDER_NOT_AVAILABLE
    await noteRefusal(context, opened, { idpId, error: notServing }, call)
    return again(notServing)
  }
}

/** What idp is asked, at the beginning and with the answer. */
export function askedOf(
  { idpId, secret, nonce, codeVerifier, promptsLogin, maxAge }: BegunAtProvider,
  { requestId, organizationId, loginHint }: { requestId: string; organizationId: string; loginHint: string },
) {
  return {
    idpId,
    organizationId,
    state: `${requestId}.${secret}`,
    nonce,
    codeVerifier,
    loginHint,
    promptsLogin,
    maxAge,
  }
}

/** Whether idp, or the provider behind it, does not serve now. */
export function isNotAvailable(error: unknown): boolean {
  return error instanceof RosterError && ['IDP_NOT_FOUND', 'IDP_NOT_AVAILABLE'].includes(error.reason)
}

// Of a person who is known, or whom the application expects.
function hintOf({ row: { parameters } }: OpenedRequest, state: RequestState): string {
  return (fixedPerson(state)?.email ?? parameters.loginHint).slice(0, 200)
}

// Each beginning asks another server. A form token comes with each page, and any number of pages.
export async function isThrottled({ sql, keys }: Context, address: string): Promise<boolean> {
  const network = networkOf(address)
  const wait = await takeFromBuckets(
    sql,
    rateLimitsFor(keys, [
      { name: ['provider sign-ins from', address], most: 300, pause: 0.5, kind: 'always' },
      ...(network === undefined
        ? []
        : [{ name: ['provider sign-ins from', network], most: 3000, pause: 0.05, kind: 'always' as const }]),
    ]),
  )
  if (wait !== undefined) limitsHit.add(1, 'provider_sign_ins')
  return wait !== undefined
}

/** What binds the answer of a provider to what begins now. */
export function newSecrets(): Pick<BegunAtProvider, 'secret' | 'nonce' | 'codeVerifier'> {
  return { secret: random(), nonce: random(), codeVerifier: random() }
}

function random(): string {
  return randomBytes(32).toString('base64url')
}
