import type { AggregateKey } from '#lib/eventstore/aggregate'

/**
 * The aggregate of the codes by which a user signs in without a password, by the user's id. Strangers ask for such codes, so
 * it is apart from the user, and from the failed sign-ins.
 */
export const signInCodeType = 'user.signin.code'

/** The codes themselves are rows of `secrets`. */
export type SignInCodeEvent = { type: 'requested'; payload: { codeId: string; delivery: 'mailed' | 'returned' } }

/** The last one. */
export interface SignInCode {
  codeId: string
}

/** Names the codes of a user. */
export function signInCodeKey(userId: string): AggregateKey<SignInCode> {
  return { type: signInCodeType, id: userId }
}

export function evolveSignInCode(_: SignInCode | undefined, { payload: { codeId } }: SignInCodeEvent): SignInCode {
  return { codeId }
}
