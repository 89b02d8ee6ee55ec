/**
 * The aggregate of a human's failed sign-ins, by the user's id. It is one of its own, so that a stranger's tries leave
 * the user's sequence alone.
 */
export const signInType = 'user.signin'

/** The events of a human's sign-ins. */
export type SignInEvent =
  /** A try failed. Further ones are counted, for a minute. */
  | { type: 'failed'; payload: {} }
  /** So many tries failed since then, RFC 3339. The one of `failed` is among them. */
  | { type: 'failures.counted'; payload: { count: number; since: string } }

export interface SignIn {
  /** Failures are being counted. */
  isFailing: boolean
}

/** The sign-ins after an event. */
export function evolveSignIn(_signIn: SignIn | undefined, { type }: SignInEvent): SignIn {
  return { isFailing: type === 'failed' }
}
