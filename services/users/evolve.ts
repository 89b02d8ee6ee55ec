import { evolveAuthentication } from './openid/events/authentication.ts'
import { authorizationType, evolveAuthorization } from './openid/events/authorization.ts'
import { closureType, evolveClosure } from './openid/events/closure.ts'
import { codeMailType, evolveCodeMail } from './directory/events/code-mail.ts'
import { consentType, evolveConsent } from './openid/events/consent.ts'
import { evolveInvitation, invitationType } from './directory/events/invitation.ts'
import { evolveLoginPolicy, loginPolicyType } from './sessions/events/login-policy.ts'
import { evolveOwnership, ownershipType } from './directory/events/ownership.ts'
import { evolveOrganization, organizationType } from './directory/events/organization.ts'
import { evolveNotice, noticeType } from './directory/events/notice.ts'
import { evolvePasswordCode, passwordCodeType } from './directory/events/password-code.ts'
import { evolveSession } from './sessions/events/session.ts'
import { evolveSignIn, signInType } from './directory/events/sign-in.ts'
import { evolveSignInCode, signInCodeType } from './directory/events/sign-in-code.ts'
import { evolveUser } from './directory/events/user.ts'

/** Each aggregate after an event. */
export const evolve = {
  user: evolveUser,
  [codeMailType]: evolveCodeMail,
  [ownershipType]: evolveOwnership,
  [organizationType]: evolveOrganization,
  [closureType]: evolveClosure,
  [passwordCodeType]: evolvePasswordCode,
  [noticeType]: evolveNotice,
  [signInType]: evolveSignIn,
  [signInCodeType]: evolveSignInCode,
  [invitationType]: evolveInvitation,
  session: evolveSession,
  authentication: evolveAuthentication,
  [authorizationType]: evolveAuthorization,
  [consentType]: evolveConsent,
  [loginPolicyType]: evolveLoginPolicy,
}
