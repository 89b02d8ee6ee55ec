import type { Refusal } from '../../context.ts'
import { refusalOf } from '../arrivals/refused.ts'
import { asSent, mostOfUri } from './as-sent.ts'
import { describe, type Mistake } from './mistakes.ts'
import type { Parameters, SignOutParameters } from './parameters.ts'

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
    ...refusalOf(parameters.clientId, cause, description),
    parameter,
    sent: sentAs(field && parameters[field], parameter),
    allowed,
  }
}

/** Of a request to sign out. */
export function refusalOfSignOut(clientId: string, sent: SignOutParameters, mistake: Mistake): Refusal {
  const { parameter } = mistake
  const uri = parameter === 'post_logout_redirect_uri' ? sent.postLogoutRedirectUri : undefined
  return {
    ...refusalOf(clientId, 'sign-out', describe(mistake)),
    parameter,
    sent: sentAs(uri),
    allowed: mistake.values,
  }
}

// Blanks stand between the words of some. In all others a blank may be what is wrong.
function sentAs(text = '', parameter = ''): string {
  if (!['scope', 'prompt'].includes(parameter)) return asSent(text, mostOfUri)
  const words = text.slice(0, mostOfUri).split(' ')
  return words
    .map((word) => asSent(word, mostOfUri))
    .join(' ')
    .slice(0, mostOfUri)
}
