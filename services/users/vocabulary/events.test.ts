import type * as messages from '#gen/roster/events/v1/users'
import { testEvents } from '#test/support/event-payloads'
import type { AuthenticationEvent } from './authentication.ts'
import { type AuthorizationEvent, authorizationType } from './authorization.ts'
import { type ClosureEvent, closureType } from './closure.ts'
import { type CodeMailEvent, codeMailType } from './code-mail.ts'
import { type ConsentEvent, consentType } from './consent.ts'
import { type LoginPolicyEvent, loginPolicyType } from './login-policy.ts'
import { type OwnershipEvent, ownershipType } from './ownership.ts'
import { type OrganizationEvent, organizationType } from './organization.ts'
import { type PasswordCodeEvent, passwordCodeType } from './password-code.ts'
import { type NoticeEvent, noticeType } from './notice.ts'
import type { SessionEvent } from './session.ts'
import { type SignInEvent, signInType } from './sign-in.ts'
import type { UserEvent } from './user.ts'

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
>('users', [
  'user',
  codeMailType,
  organizationType,
  closureType,
  ownershipType,
  passwordCodeType,
  noticeType,
  signInType,
  'session',
  'authentication',
  authorizationType,
  consentType,
  loginPolicyType,
])
