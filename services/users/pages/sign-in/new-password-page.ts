import { NewPasswordError, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { passwordLengths } from '../../directory/passwords/password-lengths.ts'
import { show } from '../../openid/authorization/answer.ts'
import type { Candidate } from '../../openid/authorization/candidates.ts'
import type { RequestRow } from '../../openid/request/request-row.ts'
import { secondsUntil } from './pages.ts'

/** The page of a person whose password somebody else has set. */
export function newPasswordPage(
  { progress: { newPassword } }: Pick<RequestRow, 'progress'>,
  person: Candidate,
  now: Date,
): PageAnswer {
  return show({
    $case: 'newPassword',
    value: {
      loginName: person.knownName,
      error: newPassword?.error ?? NewPasswordError.NEW_PASSWORD_ERROR_UNSPECIFIED,
      retryAfter: secondsUntil(newPassword?.retryAt, now),
      ...passwordLengths(),
    },
  })
}

/** Whether another password is what comes next, so that all else is proved. */
export function lacksNewPassword({ verdict }: Candidate): boolean {
  return 'missing' in verdict && verdict.missing[0].what === 'new-password'
}
