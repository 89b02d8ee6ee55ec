import { SignInFactorState } from '#gen/roster/users/v1/session_service'

/** What each state of a second factor says to a person, and what helps. */
export const factorSentences = {
  [SignInFactorState.SIGN_IN_FACTOR_STATE_READY]: 'The user can prove it.',
  [SignInFactorState.SIGN_IN_FACTOR_STATE_SET_UP_IN_SIGN_IN]:
    'The user has none yet, and sets it up in the sign-in, after the password.',
  [SignInFactorState.SIGN_IN_FACTOR_STATE_NOT_SET_UP]: 'The user has not set it up.',
  [SignInFactorState.SIGN_IN_FACTOR_STATE_REMOVED]: 'The user had it, and it was removed.',
  [SignInFactorState.SIGN_IN_FACTOR_STATE_NOT_ALLOWED]:
    'The user has it, and the login policy does not let it serve. UpdateLoginPolicy changes that.',
  [SignInFactorState.SIGN_IN_FACTOR_STATE_OTHER_DOMAIN]:
    'The passkeys of the user were made for another domain than the present PASSKEY_RP_ID. The user needs a new one; CreatePasskeyRegistrationLink makes a link for it.',
  [SignInFactorState.SIGN_IN_FACTOR_STATE_ADDRESS_NOT_VERIFIED]:
    'The address of the user is not verified, so no code that is mailed to it proves anything.',
  [SignInFactorState.SIGN_IN_FACTOR_STATE_PASSWORD_BY_MAIL]:
    'A mailed code has set the password, so another mailed code is no second factor. Another password helps, which the user or an administrator sets.',
  [SignInFactorState.SIGN_IN_FACTOR_STATE_LOCKED]:
    'There were 100 wrong codes since the last right one. Another factor helps, or UnlockUser. In a browser in which the user passed it before it still serves.',
  [SignInFactorState.SIGN_IN_FACTOR_STATE_THROTTLED]:
    'There were too many tries lately. The user waits, takes another factor, or a browser in which this one was passed before.',
  [SignInFactorState.SIGN_IN_FACTOR_STATE_MAILS_THROTTLED]:
    'There were too many mails to the address, or of the organization, lately. A code that was mailed before still serves.',
  [SignInFactorState.SIGN_IN_FACTOR_STATE_LOCKED_IN_BROWSERS]:
    'There were 100 wrong codes since the last right one in a browser that had passed it before. Elsewhere it serves. UnlockUser helps.',
} as const
