import { TokenReason } from '#gen/roster/users/v1/session_service'

/** What each reason says to a person. */
export const tokenSentences: Record<TokenReason, string> = {
  [TokenReason.TOKEN_REASON_UNSPECIFIED]: 'It is active.',
  [TokenReason.TOKEN_REASON_UNKNOWN]:
    'There is no such token, or it is long gone: it was revoked, has expired or ended with its session. Or the caller may not read its user.',
  [TokenReason.TOKEN_REASON_EXPIRED]: 'It has expired.',
  [TokenReason.TOKEN_REASON_TAKEN_BACK]: 'It was taken back: revoked, or ended with what it stood on.',
  [TokenReason.TOKEN_REASON_GROUND]: 'What it stands on ended, or shuts its user out.',
  [TokenReason.TOKEN_REASON_FACTOR_MISSING]: 'A factor is missing that the login policy or the user asks for.',
  [TokenReason.TOKEN_REASON_USED]: 'It was used before. A further use ends all that came of the sign-in.',
  [TokenReason.TOKEN_REASON_KEY_REQUIRED]: 'The machine takes tokens that are bound to a key alone.',
  [TokenReason.TOKEN_REASON_OTHER_ISSUER]: 'It is of another issuer.',
  [TokenReason.TOKEN_REASON_KEY_UNKNOWN]: 'It is signed with a key that Roster does not have, or no longer.',
  [TokenReason.TOKEN_REASON_SIGNATURE_WRONG]: 'Its signature is wrong.',
  [TokenReason.UNRECOGNIZED]: '',
}
