import { evolveAuthentication } from './authentication.ts'
import { codeMailType, evolveCodeMail } from './code-mail.ts'
import { evolveOwnership, ownershipType } from './ownership.ts'
import { evolveOrganization, organizationType } from './organization.ts'
import { evolveSession } from './session.ts'
import { evolveUser } from './user.ts'

/** Each aggregate after an event. */
export const evolve = {
  user: evolveUser,
  [codeMailType]: evolveCodeMail,
  [ownershipType]: evolveOwnership,
  [organizationType]: evolveOrganization,
  session: evolveSession,
  authentication: evolveAuthentication,
}
