import { evolveAuthentication } from './authentication.ts'
import { authorizationType, evolveAuthorization } from './authorization.ts'
import { closureType, evolveClosure } from './closure.ts'
import { codeMailType, evolveCodeMail } from './code-mail.ts'
import { consentType, evolveConsent } from './consent.ts'
import { evolveLoginPolicy, loginPolicyType } from './login-policy.ts'
import { evolveOwnership, ownershipType } from './ownership.ts'
import { evolveOrganization, organizationType } from './organization.ts'
import { evolveNotice, noticeType } from './notice.ts'
import { evolvePasswordCode, passwordCodeType } from './password-code.ts'
import { evolveSession } from './session.ts'
import { evolveSignIn, signInType } from './sign-in.ts'
import { evolveUser } from './user.ts'

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
  session: evolveSession,
  authentication: evolveAuthentication,
  [authorizationType]: evolveAuthorization,
  [consentType]: evolveConsent,
  [loginPolicyType]: evolveLoginPolicy,
}
