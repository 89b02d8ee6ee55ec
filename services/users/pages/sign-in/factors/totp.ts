import { CodeError, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { Context } from '../../../context.ts'
import type { Binding } from '../../../directory/secrets/one-time-codes.ts'
import { show } from '../../../openid/authorization/answer.ts'
import type { Candidate } from '../../../openid/authorization/candidates.ts'
import type { RequestRow } from '../../../openid/request/request-row.ts'
import { hasFactor } from '../../../sessions/factors/kinds.ts'
import { findNewTotp } from '../../../sessions/factors/totp/set-up.ts'
import { typedCodePage } from './typed-code.ts'
import { beganByMail, mayBeSetUp, otherWays } from './ways.ts'

/** The page of an authenticator app: it asks for its code, or sets it up. */
export async function totpPage(
  context: Context,
  row: Pick<RequestRow, 'progress'>,
  person: Candidate,
  now: Date,
): Promise<PageAnswer> {
  const { user, knownName } = person
  if (hasFactor(user.human, 'totp')) return typedCodePage('totp', row, person, now)
  const error = mayBeSetUp(person) ? undefined : deadEnd(person)
  const found = error === undefined ? await findNewTotp(context, setUpBinding(person), user) : undefined
  return show({
    $case: 'totpSetUp',
    value: {
      loginName: knownName,
      secret: found,
      error: error ?? row.progress.code?.error ?? CodeError.CODE_ERROR_UNSPECIFIED,
      ways: otherWays(person, 'totp'),
    },
  })
}

/** What is set up on a page is bound to its session and browser: another one with the password does not see it. */
export function setUpBinding({ signedInUser }: Pick<Candidate, 'signedInUser'>): Binding {
  const { userId, sessionId, browserId } = signedInUser
  return { userId, purpose: sessionId, browserId }
}

function deadEnd(person: Candidate): CodeError {
  const { user } = person
  if (beganByMail(person)) return CodeError.CODE_ERROR_SIGNED_IN_BY_MAIL
  return user.human?.passwordByMail ? CodeError.CODE_ERROR_PASSWORD_BY_MAIL : CodeError.CODE_ERROR_NOT_SET_UP
}
