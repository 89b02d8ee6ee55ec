import { SignInReason } from '#gen/roster/users/v1/session_service'

/** What each reason says to a person. */
export const sentences = {
  [SignInReason.SIGN_IN_REASON_PERSON]: 'The user has to sign in.',
  [SignInReason.SIGN_IN_REASON_ACCOUNT]: 'The application asks the user to choose an account.',
  [SignInReason.SIGN_IN_REASON_CLICK]: 'The answer goes to a program that may be anybody’s, so the user has to click.',
  [SignInReason.SIGN_IN_REASON_FACTOR]:
    'The policy, or a second factor of the user, asks for a factor that was not checked.',
  [SignInReason.SIGN_IN_REASON_FRESH_FACTOR]: 'The application asks for the password once more.',
  [SignInReason.SIGN_IN_REASON_CONTEXT]:
    'The application asks for a further factor, or for a passkey that checks the user (acr).',
  [SignInReason.SIGN_IN_REASON_CONTEXT_UNMET]:
    'The application takes nobody without a further factor, or a passkey, that the user cannot prove (acr): it gets an error.',
  [SignInReason.SIGN_IN_REASON_CONSENT]: 'The user has to let the application be used, and have these scopes.',
  [SignInReason.SIGN_IN_REASON_USER_LOCKED]: 'The user is locked.',
  [SignInReason.SIGN_IN_REASON_USER_INACTIVE]: 'The user is deactivated.',
  [SignInReason.SIGN_IN_REASON_ORGANIZATION_CLOSED]: 'The organization of the user is deactivated or removed.',
  [SignInReason.SIGN_IN_REASON_APPLICATION_CLOSED]:
    'There is no such application, or it or its project is deactivated or removed.',
  [SignInReason.SIGN_IN_REASON_PROJECT_ORGANIZATION_CLOSED]:
    'The organization that owns the project is deactivated or removed.',
  [SignInReason.SIGN_IN_REASON_OTHER_ORGANIZATION]: 'The application asks for people of another organization.',
  [SignInReason.SIGN_IN_REASON_PROJECT_CHECK]:
    'The project lets in only people of its organization, of organizations that it is granted to, or with a grant of it.',
  [SignInReason.SIGN_IN_REASON_ROLE_CHECK]: 'The project lets in only people with a grant of it.',
  [SignInReason.SIGN_IN_REASON_NOT_ADMITTED]: 'The organization of the application does not let the user in.',
  [SignInReason.SIGN_IN_REASON_OTHER_PERSON]: 'The application asks for another user.',
  [SignInReason.SIGN_IN_REASON_SCOPES]: 'The application may not ask for these scopes.',
  [SignInReason.SIGN_IN_REASON_AUTHORIZATION_ENDED]: 'What the application had is over.',
  [SignInReason.SIGN_IN_REASON_SESSION_ENDED]: 'What the application had has ended with its session.',
  [SignInReason.SIGN_IN_REASON_SIGNED_OUT]: 'All sessions of the user were ended since.',
  [SignInReason.SIGN_IN_REASON_CONSENT_WITHDRAWN]: 'The user has taken the consent back since.',
  [SignInReason.SIGN_IN_REASON_CLOSED_MEANWHILE]:
    'An organization, the application or its project was closed since, and is open again.',
  [SignInReason.SIGN_IN_REASON_NO_PASSWORD]: 'The user has no password.',
  [SignInReason.SIGN_IN_REASON_ADDRESS_NOT_VERIFIED]:
    'The address of the user is not verified: it names no one, and no code that is mailed to it proves anything.',
  [SignInReason.SIGN_IN_REASON_ADDRESS_NOT_TRUSTED]:
    'The address of the user was changed of late, or set by somebody with fewer roles, so no code to sign in is mailed to it yet. A passkey helps, or a caller with user.write who verifies the address.',
  [SignInReason.SIGN_IN_REASON_PASSWORD_BY_MAIL]:
    'A second factor is asked for, and a mailed code is none for a password that was itself set by a mailed code.',
  [SignInReason.SIGN_IN_REASON_THROTTLED]:
    'There were too many wrong passwords. At the addresses that they came from the user has to wait, and nowhere else.',
  [SignInReason.SIGN_IN_REASON_FACTOR_THROTTLED]: 'There were too many codes of the user, or mails with them.',
  [SignInReason.SIGN_IN_REASON_NAME_OF_ANOTHER]:
    'At this application the login name means another user, or none. The name with the domain of the organization means this one.',
  [SignInReason.SIGN_IN_REASON_FACTOR_LOCKED]:
    'There were too many wrong codes since the last right one. An administrator can unlock the user.',
  [SignInReason.SIGN_IN_REASON_PASSKEY_OTHER_DOMAIN]:
    'The passkeys of the user were made for another domain, and none of them serves.',
  [SignInReason.SIGN_IN_REASON_NEW_PASSWORD]:
    'Somebody else set the password of the user, who has to choose another one in the sign-in.',
  [SignInReason.SIGN_IN_REASON_PROVIDER]:
    'The user signs in by an identity provider alone, and none to which the user is connected serves.',
} as const

/** Who demands a second factor. */
export const demands = {
  user: 'The user has a second factor, and is asked for one in each sign-in.',
  policy: 'The login policy demands a second factor of the user.',
} as const
