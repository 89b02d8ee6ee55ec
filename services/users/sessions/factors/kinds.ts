import type { Factors } from '#gen/roster/users/v1/session_service'
import { SecondFactorType } from '#gen/roster/users/v1/settings_service'
import { AuthenticationMethodType } from '#gen/roster/users/v1/user_service'
import { whyMailProvesNothing } from '../../directory/events/human.ts'
import type { User } from '../../directory/events/user.ts'
import type { LoginUser } from '../../directory/login-names/login-user.ts'
import type { FactorKind } from '../events/session.ts'

/** What is known of a kind of factor without doing it. Its work is an object of `registry.ts`. */
export interface FactorFacts {
  /** Its value of `amr` (RFC 8176). */
  amr: string
  /** It opens a session, and moves `auth_time`. */
  isFirst: boolean
  /** It serves where a second factor is demanded: its name there, and how many tries of a user count within so many seconds. */
  second?: {
    type: SecondFactorType
    guesses: { most: number; seconds: number }[]
    /** A user can prove it without having set it up, where it is demanded. */
    isReady(user: User): boolean
  }
  /** Its field among the factors of a session that is shown. */
  shownAs: Exclude<keyof Factors, 'user'>
  /** Its name among the methods of a user. */
  method: AuthenticationMethodType
  /** The user has it. A policy may demand it of others, too. */
  isSetUp(user: Pick<LoginUser, 'state' | 'hash'>): boolean
}

export const factorKinds: Record<FactorKind, FactorFacts> = {
  password: {
    amr: 'pwd',
    isFirst: true,
    shownAs: 'password',
    method: AuthenticationMethodType.AUTHENTICATION_METHOD_TYPE_PASSWORD,
    isSetUp: ({ hash }) => hash !== null,
  },
  'otp-email': {
    amr: 'otp',
    isFirst: false,
    second: {
      type: SecondFactorType.SECOND_FACTOR_TYPE_OTP_EMAIL,
      guesses: [
        { most: 5, seconds: 600 },
        { most: 20, seconds: 86_400 },
      ],
      isReady: ({ human }) => whyMailProvesNothing(human) === undefined,
    },
    shownAs: 'otpEmail',
    method: AuthenticationMethodType.AUTHENTICATION_METHOD_TYPE_OTP_EMAIL,
    isSetUp: ({ state }) => state.human?.secondFactors?.includes('otp-email') === true,
  },
}

/** The kinds that open a session, and that a request may ask for again. */
export const firstFactors = kindsThat(({ isFirst }) => isFirst)
/** The kinds that serve where a second factor is demanded. */
export const secondFactors = kindsThat(({ second }) => second !== undefined)

function kindsThat(serve: (facts: FactorFacts) => boolean): FactorKind[] {
  return (Object.keys(factorKinds) as FactorKind[]).filter((kind) => serve(factorKinds[kind]))
}
