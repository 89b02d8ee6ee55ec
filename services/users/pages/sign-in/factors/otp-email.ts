import { CodeError, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { show } from '../../../openid/authorization/answer.ts'
import type { Candidate } from '../../../openid/authorization/candidates.ts'
import type { RequestRow } from '../../../openid/request/request-row.ts'
import { whyNot } from '../../../sessions/factors/otp-email/otp-email.ts'
import { secondsUntil } from '../pages.ts'
import { beganByMail, mayBeSetUp, mayPassOver, otherWays, trustDays } from './ways.ts'

/** The page of a code by mail. It is mailed once it is asked for: no GET does so. */
export function otpEmailPage(
  { progress: { code = {} } }: Pick<RequestRow, 'progress'>,
  person: Candidate,
  now: Date,
): PageAnswer {
  const { user, knownName } = person
  const refused = beganByMail(person) ? 'signed-in-by-mail' : whyNot(user)
  const error = refused ? refusals[refused] : (code.error ?? CodeError.CODE_ERROR_UNSPECIFIED)
  return show({
    $case: 'code',
    value: {
      loginName: knownName,
      email: masked(user.human!.email),
      isSent: code.isSent === true,
      error,
      retryAfter: secondsUntil(code.retryAt, now),
      ways: otherWays(person, 'otp-email'),
      maySetUp: mayBeSetUp(person),
      mayPassOver: mayPassOver(person),
      trustDays: trustDays(person, 'otp-email'),
    },
  })
}

const refusals = {
  'not-verified': CodeError.CODE_ERROR_NOT_VERIFIED,
  'password-by-mail': CodeError.CODE_ERROR_PASSWORD_BY_MAIL,
  'signed-in-by-mail': CodeError.CODE_ERROR_SIGNED_IN_BY_MAIL,
}

/** An address that its owner knows again, and no other learns: `a•••@e•••.com`. */
export function masked(email: string): string {
  const [name = '', host = ''] = email.split(/@(?=[^@]*$)/)
  const [label = '', ...rest] = host.split('.')
  const top = rest.at(-1)
  const first = (text: string) => `${[...text][0] ?? ''}•••`
  return `${first(name)}@${first(label)}${top === undefined ? '' : `.${top}`}`
}
