import type * as messages from '#gen/roster/events/v1/users'
import { testEvents } from '#test/support/event-payloads'
import type { AuthenticationEvent } from './openid/events/authentication.ts'
import { type AuthorizationEvent, authorizationType } from './openid/events/authorization.ts'
import { type ClosureEvent, closureType } from './openid/events/closure.ts'
import { type CodeMailEvent, codeMailType } from './directory/events/code-mail.ts'
import { type ConsentEvent, consentType } from './openid/events/consent.ts'
import { type LoginPolicyEvent, loginPolicyType } from './sessions/events/login-policy.ts'
import { type InvitationEvent, invitationType } from './directory/events/invitation.ts'
import { type OwnershipEvent, ownershipType } from './directory/events/ownership.ts'
import { type OrganizationEvent, organizationType } from './directory/events/organization.ts'
import { type PasswordCodeEvent, passwordCodeType } from './directory/events/password-code.ts'
import { type NoticeEvent, noticeType } from './directory/events/notice.ts'
import type { SessionEvent } from './sessions/events/session.ts'
import { type SignInEvent, signInType } from './directory/events/sign-in.ts'
import { type SignInCodeEvent, signInCodeType } from './directory/events/sign-in-code.ts'
import type { UserEvent } from './directory/events/user.ts'

// Earlier versions stored the end of a mail at the user. These events are published like those of `CodeMail`.
type FormerMarks = { type: 'email.code.sent' | 'email.code.failed' }

type Events = {
  user: Exclude<UserEvent, FormerMarks>
  [codeMailType]: CodeMailEvent
  [organizationType]: OrganizationEvent
  [closureType]: ClosureEvent
  [ownershipType]: OwnershipEvent
  [passwordCodeType]: PasswordCodeEvent
  [noticeType]: NoticeEvent
  [signInType]: SignInEvent
  [signInCodeType]: SignInCodeEvent
  [invitationType]: InvitationEvent
  session: SessionEvent
  authentication: AuthenticationEvent
  [authorizationType]: AuthorizationEvent
  [consentType]: ConsentEvent
  [loginPolicyType]: LoginPolicyEvent
}

testEvents<
  Events,
  typeof messages,
  | 'UserProfile'
  | 'UserPublicKey'
  | 'SessionFactor'
  | 'AuthorizationRounds'
  | 'FirstRefreshToken'
  | 'LoginPolicyBrand'
  | 'LoginPolicyTheme'
  | 'LoginPolicySecondFactors'
  | 'LoginPolicyIdentityProviders'
  | 'LoginPolicyProviderDomain'
  | 'InvitedRoles'
>('users', [
  'user',
  codeMailType,
  organizationType,
  closureType,
  ownershipType,
  passwordCodeType,
  noticeType,
  signInType,
  signInCodeType,
  invitationType,
  'session',
  'authentication',
  authorizationType,
  consentType,
  loginPolicyType,
])
