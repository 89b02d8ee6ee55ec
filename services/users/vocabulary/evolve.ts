import { evolveAuthentication } from './authentication.ts'
import { codeMailType, evolveCodeMail } from './code-mail.ts'
import { evolveSession } from './session.ts'
import { evolveUser } from './user.ts'

/** Each aggregate after an event. */
export const evolve = {
  user: evolveUser,
  [codeMailType]: evolveCodeMail,
  session: evolveSession,
  authentication: evolveAuthentication,
}
