import { randomUUID } from 'node:crypto'
import type { RequestPasswordResetRequest, RequestPasswordResetResponse } from '#gen/roster/users/v1/password_service'
import { RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { countLimit, limitsHit } from '#lib/limits-hit'
import type { Context } from '../../context.ts'
import { canonicalAddress } from '../../directory/email/address.ts'
import { canRecover } from '../../directory/email/can-recover.ts'
import { isNeverVerified, makeCode } from '../../directory/passwords/recovery.ts'
import { findUserById, type LoginUser } from '../../directory/login-names/login-user.ts'
import { findLoginUser } from '../../directory/login-names/meaning.ts'
import { isOpen } from '../../../organization-status.ts'
import { statuses } from '../../directory/organizations/statuses.ts'
import { mayStillActOn } from '../../directory/may-act-on.ts'
import { isActive } from '../../directory/states/user-state.ts'
import { renewsPasswords } from '../../sessions/login-policy/recovery-page.ts'
import { personPolicy } from '../../sessions/login-policy/load-person-policy.ts'
import { loadLoginPolicy } from '../../sessions/login-policy/load-login-policy.ts'
import { throttle } from '../../directory/rate-limits/throttle.ts'
import {
  type NamedRateLimit,
  networkOf,
  rateLimitsFor,
  takeFromBuckets,
} from '../../directory/rate-limits/token-buckets.ts'
import { withinAnHour } from '../../directory/events/human.ts'
import { type PasswordCode, type PasswordCodeEvent, passwordCodeKey } from '../../directory/events/password-code.ts'
import { type User, userKey } from '../../directory/events/user.ts'
import { findHolder } from '../../directory/login-names/address-holder.ts'
import { mailedCodes } from './password-reset.ts'

/** How long the work after an answer may take, in milliseconds. */
export const workFor = 30_000

/**
 * Answers before anything is looked up, so that neither the answer nor its time depends on the user. The work comes
 * after the response, networks round robin.
 */
export async function requestPasswordReset(
  context: Context,
  { loginName }: RequestPasswordResetRequest,
  call: Call,
): Promise<RequestPasswordResetResponse> {
  const lane = networkOf(call.clientAddress) ?? call.clientAddress
  context.afterResponse.run(lane, () => mailCode(context, loginName, { ...call, deadline: Date.now() + workFor }))
  return {}
}

/** Where a code is asked for: its id is known there, and its link leads back. */
interface AskedIn {
  codeId: string
  urlTemplate: string
  /** The person is known already. */
  userId?: string | undefined
}

/** Mails a code to the user of a login name, where it may have one. */
export async function mailCode(context: Context, loginName: string, call: Call, asked?: AskedIn): Promise<void> {
  // The caller learns of no limit. So only these counts show it to the operator.
  if (await takeFromBuckets(context.sql, rateLimitsFor(context.keys, limitsOf(call.clientAddress))))
    return limitsHit.add(1, 'password_resets')
  const found = await findForgetful(context, { loginName, userId: asked?.userId }, call)
  const [codeId, unknown] = [asked?.codeId ?? randomUUID(), randomUUID()]
  const urlTemplate = asked?.urlTemplate
  const userId = found?.userId ?? unknown
  const { requestId, deadline, once } = call
  const setBy = found?.state.human?.emailSetBy
  const isTrusted = !found || (await mayStillActOn(context, [setBy], found.userId, call))
  const isForeign = found !== undefined && (await isOfAnother(context, found))
  const renews = renewsPasswords(await policyOf(context, found, call))
  let throttled: unknown
  const store = (isAllowed: boolean) =>
    context.store.execute({
      aggregate: passwordCodeKey(userId),
      reads: { user: userKey(userId), status: statuses.key(found?.organizationId ?? '') },
      // If-Match is left out: a mismatch would reveal the user.
      call: { caller: anonymous, requestId, deadline, ...(once && { once }) },
      decide({ state }: Aggregate<PasswordCode>, now, { user, status }) {
        throttled = undefined
        if (!isAllowed || !isOpen(status) || !mayRecover(context, user, now)) return nothing
        throttled = tooManyCodes(state, now)
        if (throttled) return nothing
        const { human } = user.state!
        // Another address may have been set meanwhile. A former one still names its user, and recovers nothing.
        const isFormer = found?.address !== undefined && found.address !== canonicalAddress(human!.email)
        if (isFormer || human!.emailSetBy !== setBy) return nothing
        return makeCode(context, user, { codeId, human: human!, returned: false, urlTemplate, by: 'stranger' }, now)
      },
      respond: () => ({}),
    })
  try {
    await store(isTrusted && !isForeign && renews)
    countLimit(throttled)
  } catch (error) {
    if (!(error instanceof RosterError) || error.reason !== 'MAILS_THROTTLED') throw error
    countLimit(error)
    // Under an Idempotency-Key, the answer must be stored as for every other name.
    await store(false)
  }
}

// Where providers alone sign in, who has a role keeps the password.
async function policyOf(context: Context, found: LoginUser | undefined, call: Call) {
  const policy = await loadLoginPolicy(context, found?.organizationId ?? '')
  return found && policy.factors.includes('provider') ? personPolicy(context, policy, found, call) : policy
}

/** The person who forgot the password: that of the id, where there is one, else of the name. */
export async function findForgetful(
  context: Context,
  { loginName, userId }: { loginName: string; userId?: string | undefined },
  call: Call,
): Promise<(LoginUser & { address?: string | undefined }) | undefined> {
  return userId === undefined ? findLoginUser(context, loginName, call) : findUserById(context, userId)
}

// An empty answer is stored under an Idempotency-Key even where nothing happened.
const nothing: Decision<PasswordCodeEvent, undefined> = { events: [], answer: undefined, commits: true }

/** Whether a user may have a code for a forgotten password at all. */
export function mayRecover({ config }: Pick<Context, 'config'>, { state }: Pick<Aggregate<User>, 'state'>, now: Date) {
  const human = isActive(state) ? state?.human : undefined
  return human !== undefined && (isNeverVerified(human) || canRecover(human, config, now))
}

// An address that nobody verified for its user may be that of another person, who has proved it.
async function isOfAnother(
  context: Context,
  { userId, organizationId, state: { human } }: LoginUser,
): Promise<boolean> {
  if (!human || !isNeverVerified(human)) return false
  const holder = await findHolder(context, { email: human.email, organizationId, anywhere: true })
  return holder !== undefined && holder !== userId
}

function tooManyCodes(code: PasswordCode | undefined, now: Date): unknown {
  const requests = withinAnHour(code?.requests ?? [], now)
  try {
    for (const [most, seconds] of mailedCodes) throttle(requests, most, seconds, now, 'CODE_THROTTLED')
    return undefined
  } catch (error) {
    return error
  }
}

/** How many mails a network asks for, whomever they are for. */
export function limitsOf(address: string, what: 'resets' | 'sign-in codes' = 'resets'): NamedRateLimit[] {
  const network = networkOf(address)
  const limits: NamedRateLimit[] = [{ name: [`${what} from`, address], most: 20, pause: 30, kind: 'always' }]
  if (network !== undefined) limits.push({ name: [`${what} from`, network], most: 200, pause: 3, kind: 'always' })
  return limits
}
