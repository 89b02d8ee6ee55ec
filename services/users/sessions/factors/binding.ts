/**
 * What a challenge is for, and who began it: it counts for nothing and nobody else. Each part is known again where the
 * answer comes, so that nothing in the answer decides.
 */
export type Binding =
  /** The first page, whoever comes. */
  | { for: 'sign-in'; requestId: string; browserId: string }
  /** A page that knows the person. */
  | { for: 'again' | 'second'; requestId: string; browserId: string; sessionId: string; userId: string }
  /** A login application. */
  | { for: 'session'; sessionId: string; userId: string }
  /** The page of the account. */
  | { for: 'account'; browserId: string; sessionId: string; userId: string }
  /**
   * The page that follows a complete sign-in with a password. `conditional`: the browser makes a passkey without asking, and
   * so without a touch: no other challenge is taken so.
   */
  | { for: 'offer' | 'conditional'; requestId: string; browserId: string; sessionId: string; userId: string }
  /** The page of an invitation, whose code was right. `id`: as the request has it. */
  | { for: 'invitation'; requestId: string; browserId: string; id: string; codeId: string }
  /** Of who forgot the password, and entered the mailed code: a second factor; then a passkey in place of a new password. */
  | { for: 'recovery-check'; requestId: string; browserId: string; userId: string; codeId: string }
  | { for: 'recovery'; requestId: string; browserId: string; userId: string; codeId: string }
  /** A program of the user, or a login application with the code of a link. */
  | {
      for: 'registration'
      callerId: string
      sessionId: string
      userId: string
      passkeyId: string
      codeId: string
      secondOnly: boolean
    }

/** What was asked for, by the challenge that an answer names. */
export interface AskedAssertion {
  binding: Binding
}
