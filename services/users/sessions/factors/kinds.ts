import type { Factors } from '#gen/roster/users/v1/session_service'
import { SecondFactorType } from '#gen/roster/users/v1/settings_service'
import { AuthenticationMethodType } from '#gen/roster/users/v1/user_service'
import { type Human, type SecondFactorKind, whyMailProvesNothing } from '../../directory/events/human.ts'
import { livingPasskeys, type OfDomain } from '../../directory/events/passkeys.ts'
import type { User } from '../../directory/events/user.ts'
import type { LoginUser } from '../../directory/login-names/login-user.ts'
import type { Factor, FactorKind } from '../events/session.ts'

/** What is known of a kind of factor without doing it. Its work is an object of `registry.ts`. */
export interface FactorFacts {
  /** Its values of `amr` (RFC 8176). */
  amr: string | readonly string[]
  /** It opens a session, and moves `auth_time`. */
  isFirst: boolean
  /** It serves where a second factor is demanded: its name there, and how many tries of a user count within so many seconds. */
  second?: {
    type: SecondFactorType
    guesses: { most: number; seconds: number }[]
    /** Nobody can prove it without having set it up before the sign-in. */
    needsSetUp?: true
    /** A user can prove it where it is demanded, set up or not. */
    isReady(user: User, policy: OfDomain): boolean
    /** Where it is demanded, a person without one sets it up in the same sign-in. */
    isSetUpInSignIn?: true
    /** It stands for another factor that was lost. Who has it alone has no second factor. */
    isWayOut?: true
  }
  /** Its field among the factors of a session that is shown. */
  shownAs: Exclude<keyof Factors, 'user'>
  /** Its name among the methods of a user. */
  method: AuthenticationMethodType
  /** The user has it. A policy may demand it of others, too. */
  isSetUp(user: Pick<LoginUser, 'state' | 'hash'>, policy: OfDomain): boolean
}

const guesses = [
  { most: 5, seconds: 600 },
  { most: 20, seconds: 86_400 },
]

/** In the order in which pages ask. */
export const factorKinds: Record<FactorKind, FactorFacts> = {
  password: {
    amr: 'pwd',
    isFirst: true,
    shownAs: 'password',
    method: AuthenticationMethodType.AUTHENTICATION_METHOD_TYPE_PASSWORD,
    isSetUp: ({ hash, state }, { byHandAlone }) => hash !== null && !(byHandAlone && state.human?.passwordByLink),
  },
  'mailed-code': {
    amr: 'otp',
    isFirst: true,
    shownAs: 'otpEmail',
    method: AuthenticationMethodType.AUTHENTICATION_METHOD_TYPE_OTP_EMAIL,
    isSetUp: ({ state }) => state.human?.isVerified === true,
  },
  provider: {
    // What was proved to the provider, it says in its own words.
    amr: [],
    isFirst: true,
    shownAs: 'intent',
    method: AuthenticationMethodType.AUTHENTICATION_METHOD_TYPE_IDP,
    isSetUp: ({ state }) => (state.human?.links ?? []).length > 0,
  },
  passkey: {
    // Without attestation nobody knows where its key lies: no `hwk`.
    amr: ['pop', 'user'],
    isFirst: true,
    second: {
      type: SecondFactorType.SECOND_FACTOR_TYPE_U2F,
      // Nobody guesses a signature.
      guesses: [],
      needsSetUp: true,
      isReady: ({ human }, policy) => livingPasskeys(human, policy).length > 0,
    },
    shownAs: 'webAuthN',
    method: AuthenticationMethodType.AUTHENTICATION_METHOD_TYPE_PASSKEY,
    isSetUp: ({ state }, policy) => livingPasskeys(state.human, policy).some(({ secondOnly }) => !secondOnly),
  },
  totp: {
    amr: 'otp',
    isFirst: false,
    second: {
      type: SecondFactorType.SECOND_FACTOR_TYPE_OTP,
      guesses,
      isReady: ({ human }) => hasFactor(human, 'totp'),
      isSetUpInSignIn: true,
    },
    shownAs: 'totp',
    method: AuthenticationMethodType.AUTHENTICATION_METHOD_TYPE_TOTP,
    isSetUp: ({ state }) => hasFactor(state.human, 'totp'),
  },
  'otp-email': {
    amr: 'otp',
    isFirst: false,
    second: {
      type: SecondFactorType.SECOND_FACTOR_TYPE_OTP_EMAIL,
      guesses,
      isReady: ({ human }) => whyMailProvesNothing(human) === undefined,
    },
    shownAs: 'otpEmail',
    method: AuthenticationMethodType.AUTHENTICATION_METHOD_TYPE_OTP_EMAIL,
    isSetUp: ({ state }) => hasFactor(state.human, 'otp-email'),
  },
  'recovery-code': {
    amr: 'otp',
    isFirst: false,
    second: {
      type: SecondFactorType.SECOND_FACTOR_TYPE_RECOVERY_CODES,
      guesses,
      isReady: ({ human }) => hasFactor(human, 'recovery-code'),
      isWayOut: true,
    },
    shownAs: 'recoveryCode',
    method: AuthenticationMethodType.AUTHENTICATION_METHOD_TYPE_RECOVERY_CODE,
    isSetUp: ({ state }) => hasFactor(state.human, 'recovery-code'),
  },
}

/** The kinds that open a session, and that a request may ask for again. */
export const firstFactors = kindsThat(({ isFirst }) => isFirst)

/** Whether a check counts as a first factor: it opened a session, or could have. */
export function isFirst({ kind, second }: Pick<Factor, 'kind' | 'second'>): boolean {
  return factorKinds[kind].isFirst && second !== true
}

/** The kinds that serve where a second factor is demanded. */
export const secondFactors = kindsThat(({ second }) => second !== undefined)

/** The kind that the API names by this type. */
export function kindOfSecond(type: SecondFactorType): FactorKind | undefined {
  return secondFactors.find((kind) => factorKinds[kind].second!.type === type)
}

/** Whether it stands for another factor alone. */
export function isWayOut(kind: FactorKind): boolean {
  return factorKinds[kind].second?.isWayOut === true
}

/** Whether a user has a second factor of their own: recovery codes alone are none, and a passkey that opens sessions is none. */
export function hasSecondFactor(human: Pick<Human, 'secondFactors' | 'passkeys'> | undefined): boolean {
  const { secondFactors = [], passkeys = [] } = human ?? {}
  return secondFactors.some((kind) => !isWayOut(kind)) || passkeys.some(({ secondOnly }) => secondOnly)
}

/** Whether a user has this one. */
export function hasFactor(human: Human | undefined, kind: SecondFactorKind): boolean {
  return human?.secondFactors?.includes(kind) === true
}

function kindsThat(serve: (facts: FactorFacts) => boolean): FactorKind[] {
  return (Object.keys(factorKinds) as FactorKind[]).filter((kind) => serve(factorKinds[kind]))
}
