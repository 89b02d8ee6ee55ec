import type { NoticePage, PageAnswer, SignOutPage } from '#gen/roster/users/v1/sign_in_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { refusalOfSignOut } from '../request/refused-request.ts'
import { asSent, mostOfClientId, mostOfUri } from '../request/as-sent.ts'
import { describe } from '../request/mistakes.ts'
import type { SignOutParameters } from '../request/parameters.ts'
import type { SignOutReading } from './read-sign-out.ts'

/**
 * Logs what is wrong with a request to sign out, and says it on the page, if there is one. A stranger makes these lines: no
 * value is in them but the client id.
 */
export function tellMistake(
  { log, arrivals }: Pick<Context, 'log' | 'arrivals'>,
  page: PageAnswer,
  parameters: SignOutParameters,
  reading: SignOutReading,
  { requestId, clientAddress }: Pick<Call, 'requestId' | 'clientAddress'>,
): PageAnswer {
  const { mistake, isUnregistered, nearestUri: nearestRedirectUri } = reading
  if (!mistake) return page
  const clientId = asSent(reading.clientId || parameters.clientId, mostOfClientId)
  const { parameter, rule, values } = mistake
  log.info({ requestId, clientId, parameter, reason: describe(mistake) }, 'a sign-out request has a mistake')
  arrivals.refuse(refusalOfSignOut(reading.clientId, parameters, mistake), clientAddress)
  const redirectUri = isUnregistered ? asSent(parameters.postLogoutRedirectUri, mostOfUri) : ''
  const told = { mistake: { parameter, rule, values }, clientId, redirectUri, nearestRedirectUri }
  return { ...page, answer: withMistake(page.answer, told) }
}

type Told = Pick<NoticePage & SignOutPage, 'mistake' | 'clientId' | 'redirectUri' | 'nearestRedirectUri'>

function withMistake(answer: PageAnswer['answer'], told: Told): PageAnswer['answer'] {
  if (answer?.$case === 'notice') return { ...answer, value: { ...answer.value, ...told } }
  return answer?.$case === 'signOut' ? { ...answer, value: { ...answer.value, ...told } } : answer
}
