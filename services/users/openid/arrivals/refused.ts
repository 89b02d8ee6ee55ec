import type { Refusal } from '../../context.ts'
import { asSent, mostOfUri } from '../request/as-sent.ts'
import { describe, type Mistake } from '../request/mistakes.ts'
import type { Parameters, SignOutParameters } from '../request/parameters.ts'

// What comes in these is no secret, and names nobody. In all others it may be.
const shown = {
  redirect_uri: 'redirectUri',
  response_type: 'responseType',
  response_mode: 'responseMode',
  scope: 'scope',
  prompt: 'prompt',
  max_age: 'maxAge',
  code_challenge_method: 'codeChallengeMethod',
} as const

interface Wrong {
  parameter: string
  description: string
  allowed?: readonly string[]
}

/** Of a request for a sign-in. */
export function refusalOfRequest(parameters: Parameters, { parameter, description, allowed = [] }: Wrong): Refusal {
  const field = shown[parameter as keyof typeof shown]
  const cause = parameter === 'redirect_uri' ? 'redirect-uri' : 'parameter'
  return {
    ...of(parameters.clientId, cause, description),
    parameter,
    sent: sentAs(field && parameters[field], parameter),
    allowed,
  }
}

/** Of a person who may not come. Who it is, the log says. */
export function refusalOfPerson(clientId: string, reason: string): Refusal {
  return of(clientId, 'person', `A person was not let in: ${reason}.`)
}

/** Of a client that did not prove who it is. */
export function refusalOfClient(clientId: string, reason: string): Refusal {
  return of(clientId, 'client', `The application did not prove who it is: ${reason}.`)
}

/** Of a code or a refresh token. The sentence begins with what it is about. */
export function refusalOfGrant(clientId: string, why: string): Refusal {
  return { ...of(clientId, 'grant', why), parameter: /^([a-z_]+):/.exec(why)?.[1] ?? '' }
}

/** Of a request to sign out. */
export function refusalOfSignOut(clientId: string, sent: SignOutParameters, mistake: Mistake): Refusal {
  const { parameter } = mistake
  const uri = parameter === 'post_logout_redirect_uri' ? sent.postLogoutRedirectUri : undefined
  return { ...of(clientId, 'sign-out', describe(mistake)), parameter, sent: sentAs(uri), allowed: mistake.values }
}

function of(clientId: string, cause: Refusal['cause'], description: string): Refusal {
  return { clientId, cause, parameter: '', sent: '', allowed: [], description }
}

// Blanks stand between the words of some. In all others a blank may be what is wrong.
function sentAs(text = '', parameter = ''): string {
  if (!['scope', 'prompt'].includes(parameter)) return asSent(text, mostOfUri)
  const words = text.slice(0, mostOfUri).split(' ')
  return words.map((word) => asSent(word, mostOfUri)).join(' ')
}
