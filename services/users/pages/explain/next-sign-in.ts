import {
  type ExplainSignInRequest,
  type NextSignIn,
  SignInFactorState,
  type SignInGround,
  SignInOutcome,
  type SignInProvider,
  SignInProviderState,
  SignInReason,
} from '#gen/roster/users/v1/session_service'
import { orUnavailable, readNow } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { whyMailProvesNothing } from '../../directory/events/human.ts'
import type { User } from '../../directory/events/user.ts'
import { findUserById, type LoginUser } from '../../directory/login-names/login-user.ts'
import { mayStillActOn } from '../../directory/may-act-on.ts'
import { endOfThrottle } from '../../directory/rate-limits/sign-in-attempts.ts'
import { areSecond } from '../../sessions/factors/asked-first.ts'
import { factorKinds } from '../../sessions/factors/kinds.ts'
import { isSetByCovering, isTrustedAddress } from '../../sessions/factors/mailed-code/trusted-address.ts'
import type { FactorKind } from '../../sessions/events/session.ts'
import { loadPersonPolicy } from '../../sessions/login-policy/load-person-policy.ts'
import type { PersonPolicy } from '../../sessions/login-policy/login-policy.ts'
import { findRoles } from '../../openid/tokens/scoped-roles.ts'
import { mayRecover } from '../recovery/request-password-reset.ts'
import type { Assessment } from './assess.ts'
import type { NamedPerson } from './find-person.ts'
import { type DescribedFactor, describeFactors } from './factor-states.ts'
import { ground, groundsOfVerdict } from './grounds.ts'
import { describeProviders, hasLivingPasskey } from './provider-states.ts'
import { findWrongPasswords } from './wrong-passwords.ts'

/**
 * What the user meets who signs in next, by the functions that decide there. It counts as no try. Undefined where no
 * sign-in is asked about. UNAVAILABLE; errors of grants.
 */
export async function nextSignIn(
  context: Context,
  assessment: Assessment,
  { request, fault }: { request: ExplainSignInRequest } & Pick<NamedPerson, 'fault'>,
  call: Call,
): Promise<NextSignIn | undefined> {
  if (request.authorizationId !== '') return undefined
  const { userId } = request
  const user = await findUserById(context, userId)
  if (!user) return undefined
  const verdict = assessment.next ?? assessment.verdict
  const { refusal, missing: asked } = groundsOfVerdict({ ...assessment, verdict }, request)
  const lacked = lackedKinds(verdict)
  const policy = await loadPersonPolicy(context, user, call)
  const [throttledUntil, wrongPasswords, described, withoutRoles, providers] = await Promise.all([
    endOfThrottle(context, userId),
    findWrongPasswords(context, userId),
    describeFactors(context, user, { policy, asked: lacked.flat() }),
    hasNoRoles(context, assessment, user, call),
    describeProviders(context, user, policy, call),
  ])
  const { human } = user.state
  const isByMail = policy.factors.includes('mailed-code')
  const isByProvider = providers.some(({ state }) => lettingIn.includes(state))
  const needsProvider = policy.factors.includes('provider')
  const lacksPassword =
    !isByMail && !needsProvider && policy.factors.some((kind) => !factorKinds[kind].isSetUp(user, policy))
  const isMailed = !isByMail || (await mayBeMailedCode(context, user, call))
  const obstacles = [
    ...(fault === 'another' ? [ground({ reason: SignInReason.SIGN_IN_REASON_NAME_OF_ANOTHER })] : []),
    ...(refusal ? [refusal] : []),
    // Who comes by a provider needs neither.
    ...(lacksPassword && !isByProvider
      ? [ground({ reason: SignInReason.SIGN_IN_REASON_NO_PASSWORD, object: keyOf(user) })]
      : []),
    ...((lacksPassword || needsProvider) && !isByProvider ? obstaclesOfProviders(user, policy, providers) : []),
    ...(fault === 'unverified' || ((lacksPassword || isByMail) && !isByProvider && !human?.isVerified)
      ? [notVerified(user)]
      : []),
    ...(!isMailed && !isByProvider && human?.isVerified
      ? [ground({ reason: SignInReason.SIGN_IN_REASON_ADDRESS_NOT_TRUSTED, object: keyOf(user) })]
      : []),
    ...lacked.flatMap((kinds) => obstacleOfFactors(user, kinds, described) ?? []),
    ...(throttledUntil && !isByMail && !needsProvider
      ? [ground({ reason: SignInReason.SIGN_IN_REASON_THROTTLED, object: keyOf(user), until: throttledUntil })]
      : []),
  ].filter(({ reason }, index, all) => all.findIndex((other) => other.reason === reason) === index)
  const mayResetPassword = await mayBeMailed(context, user, policy, call)
  return {
    outcome: outcomeOf(obstacles),
    obstacles,
    asked,
    wrongPasswords,
    mayResetPassword,
    withoutRoles,
    factors: described,
    providers,
  }
}

function outcomeOf(obstacles: SignInGround[]): SignInOutcome {
  if (obstacles.length === 0) return SignInOutcome.SIGN_IN_OUTCOME_SUCCEEDS
  return obstacles.every(({ until }) => until)
    ? SignInOutcome.SIGN_IN_OUTCOME_WAITS
    : SignInOutcome.SIGN_IN_OUTCOME_FAILS
}

// Roles of a foreign project are told to those who may know it, and to the user, whose tokens have them.
async function hasNoRoles(
  context: Context,
  { facts, seesProject }: Assessment,
  { userId: id, organizationId }: LoginUser,
  call: Call,
): Promise<boolean> {
  if (!facts?.project || !(seesProject || call.caller.userId === id)) return false
  const { roles } = await findRoles(
    context,
    { id, organizationId },
    { names: new Set(), projectId: facts.project.id },
    call,
  )
  return roles.length === 0
}

// Of each list, one kind suffices.
function lackedKinds(verdict: Assessment['verdict']): (readonly FactorKind[])[] {
  if (verdict === 'scopes' || !('missing' in verdict)) return []
  return verdict.missing.flatMap((lack) => (lack.what === 'factor' && areSecond(lack.kinds) ? [lack.kinds] : []))
}

const [serving, waiting]: SignInFactorState[][] = [
  [
    SignInFactorState.SIGN_IN_FACTOR_STATE_READY,
    SignInFactorState.SIGN_IN_FACTOR_STATE_LOCKED_IN_BROWSERS,
    SignInFactorState.SIGN_IN_FACTOR_STATE_SET_UP_IN_SIGN_IN,
  ],
  [SignInFactorState.SIGN_IN_FACTOR_STATE_THROTTLED, SignInFactorState.SIGN_IN_FACTOR_STATE_MAILS_THROTTLED],
] as const

// What stands against a sign-in that asks for one of these: the least that has to change. Undefined: one of them serves.
function obstacleOfFactors(
  user: LoginUser,
  kinds: readonly FactorKind[],
  described: DescribedFactor[],
): SignInGround | undefined {
  const asked = described.filter(({ kind }) => kinds.includes(kind))
  const within = (states: readonly SignInFactorState[]) => asked.filter(({ state }) => states.includes(state))
  const obstacle = (reason: Parameters<typeof ground>[0]['reason'], found: DescribedFactor[], until?: Date) =>
    ground({ reason, object: keyOf(user), kinds: found.map(({ kind }) => kind), until })
  if (within(serving!).length > 0) return undefined
  const later = within(waiting!).toSorted((one, other) => +one.until! - +other.until!)
  if (later.length > 0) return obstacle(SignInReason.SIGN_IN_REASON_FACTOR_THROTTLED, later, later[0]!.until)
  const locked = within([SignInFactorState.SIGN_IN_FACTOR_STATE_LOCKED])
  if (locked.length > 0) return obstacle(SignInReason.SIGN_IN_REASON_FACTOR_LOCKED, locked)
  const elsewhere = within([SignInFactorState.SIGN_IN_FACTOR_STATE_OTHER_DOMAIN])
  if (elsewhere.length > 0) return obstacle(SignInReason.SIGN_IN_REASON_PASSKEY_OTHER_DOMAIN, elsewhere)
  return whyNotReady(user, kinds)
}

function whyNotReady(user: LoginUser, kinds: readonly FactorKind[]): SignInGround {
  if (whyMailProvesNothing(user.state.human) === 'password-by-mail')
    return ground({ reason: SignInReason.SIGN_IN_REASON_PASSWORD_BY_MAIL, object: keyOf(user) })
  if (kinds.includes('otp-email')) return notVerified(user)
  return ground({ reason: SignInReason.SIGN_IN_REASON_FACTOR, object: keyOf(user), kinds })
}

// Who has a passkey signs in by it. Where providers alone sign in, one is missing also to who has never come by one.
function obstaclesOfProviders(user: LoginUser, policy: PersonPolicy, providers: SignInProvider[]): SignInGround[] {
  const [link] = user.state.human?.links ?? []
  const [first] = policy.factors.includes('provider') ? providers : []
  const idpId = link?.idpId ?? first?.idpId
  if (idpId === undefined || hasLivingPasskey(user, policy)) return []
  return [ground({ reason: SignInReason.SIGN_IN_REASON_PROVIDER, object: { type: 'idp', id: idpId } })]
}

const lettingIn: SignInProviderState[] = [
  SignInProviderState.SIGN_IN_PROVIDER_STATE_READY,
  SignInProviderState.SIGN_IN_PROVIDER_STATE_CONNECTS,
]

function notVerified(user: LoginUser): SignInGround {
  return ground({ reason: SignInReason.SIGN_IN_REASON_ADDRESS_NOT_VERIFIED, object: keyOf(user) })
}

const keyOf = ({ userId }: LoginUser) => ({ type: 'user', id: userId })

// A code that signs in by itself. Who has a passkey signs in without.
async function mayBeMailedCode(context: Context, user: LoginUser, call: Call): Promise<boolean> {
  const now = await orUnavailable(readNow(context.sql))
  return isTrustedAddress(context, user.state, now) && isSetByCovering(context, user, call)
}

async function mayBeMailed(
  context: Context,
  { userId, state }: LoginUser & { state: User },
  { hidePasswordReset, factors }: PersonPolicy,
  call: Call,
): Promise<boolean> {
  if (
    hidePasswordReset ||
    !factors.includes('password') ||
    !mayRecover(context, { state }, await orUnavailable(readNow(context.sql)))
  )
    return false
  return mayStillActOn(context, [state.human?.emailSetBy], userId, call)
}
