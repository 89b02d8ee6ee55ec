import { CodeError, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { SecondFactorKind } from '../../../directory/events/human.ts'
import { show } from '../../../openid/authorization/answer.ts'
import type { Candidate } from '../../../openid/authorization/candidates.ts'
import type { RequestRow } from '../../../openid/request/request-row.ts'
import { secondsUntil } from '../pages.ts'
import { mayPassOver, otherWays, trustDays, wayOf } from './ways.ts'

/** The page of a code that the person has: of an app, or a recovery code. */
export function typedCodePage(
  kind: SecondFactorKind,
  { progress: { code = {} } }: Pick<RequestRow, 'progress'>,
  person: Candidate,
  now: Date,
): PageAnswer {
  return show({
    $case: 'factorCode',
    value: {
      loginName: person.knownName,
      way: wayOf(kind),
      error: code.error ?? CodeError.CODE_ERROR_UNSPECIFIED,
      retryAfter: secondsUntil(code.retryAt, now),
      ways: otherWays(person, kind),
      mayPassOver: mayPassOver(person),
      trustDays: trustDays(person, kind),
    },
  })
}
