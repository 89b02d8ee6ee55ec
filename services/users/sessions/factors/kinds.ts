import type { Factors } from '#gen/roster/users/v1/session_service'
import { SecondFactorType } from '#gen/roster/users/v1/settings_service'
import { AuthenticationMethodType } from '#gen/roster/users/v1/user_service'
import { whyMailProvesNothing } from '../../directory/events/human.ts'
import { firstPasskeys } from '../../directory/events/passkeys.ts'
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
    /** Nobody can prove it without having set it up. */
    needsSetUp?: true
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
  passkey: {
    // Without attestation nobody knows where its key lies: no `hwk`.
    amr: ['pop', 'user'],
    isFirst: true,
    second: {
      type: SecondFactorType.SECOND_FACTOR_TYPE_U2F,
      // Nobody guesses a signature.
      guesses: [],
      needsSetUp: true,
      isReady: ({ human }) => (human?.passkeys ?? []).length > 0,
    },
    shownAs: 'webAuthN',
    method: AuthenticationMethodType.AUTHENTICATION_METHOD_TYPE_PASSKEY,
    isSetUp: ({ state }) => firstPasskeys(state.human).length > 0,
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
/** Whether a check counts as a first factor: it opened a session, or could have. */
export function isFirst({ kind, second }: Pick<Factor, 'kind' | 'second'>): boolean {
  return factorKinds[kind].isFirst && second !== true
}

/** The kinds that serve where a second factor is demanded. */
export const secondFactors = kindsThat(({ second }) => second !== undefined)

function kindsThat(serve: (facts: FactorFacts) => boolean): FactorKind[] {
  return (Object.keys(factorKinds) as FactorKind[]).filter((kind) => serve(factorKinds[kind]))
}
