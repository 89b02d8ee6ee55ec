import { decodeJwt } from 'jose'
import type { Parameters } from './parameters.ts'
import { responseModesOf } from './find-mistake.ts'
import type { RequestedApplication } from './read-parameters.ts'
import type { Mistake } from './mistakes.ts'

const mostBytes = 8192

/**
 * The parameters by which a request is answered. A way that the application may not have is none. A request with a request
 * object is refused, in the way and with the state that the object names (OpenID Connect Core section 6.1). Nothing else is
 * read of it, for nothing proves who made it.
 */
export function answerableBy(sent: Parameters, reading: RequestedApplication & { mistake?: Mistake }): Parameters {
  const modes = responseModesOf(sent, reading.application.oidc)
  const parameters = modes.includes(sent.responseMode) ? sent : { ...sent, responseMode: '' }
  if (reading.mistake?.error !== 'request_not_supported') return parameters
  return { ...parameters, ...readObject(parameters.request, modes) }
}

function readObject(text: string, modes: string[]): Partial<Pick<Parameters, 'responseMode' | 'state'>> {
  const { response_mode: responseMode, state } = decode(text)
  return {
    ...(typeof responseMode === 'string' && modes.includes(responseMode) && { responseMode }),
    ...(typeof state === 'string' && isState(state) && { state }),
  }
}

// The bound of the object keeps it shorter than one in the query may be.
function isState(text: string): boolean {
  return text !== '' && text.isWellFormed() && !text.includes('\0')
}

function decode(text: string): Record<string, unknown> {
  if (Buffer.byteLength(text) > mostBytes) return {}
  try {
    return decodeJwt(text)
  } catch {
    return {}
  }
}
