import { decodeJwt } from 'jose'
import type { OidcCopy } from '../applications/application-copy.ts'
import type { Parameters } from './parameters.ts'
import { type RequestedApplication, type Fault, responseModesOf } from './read-parameters.ts'

const mostBytes = 8192

/**
 * The parameters by which a request is answered. One with a request object is refused, in the way and with the state that
 * the object names (OpenID Connect Core section 6.1). Nothing else is read of it, for nothing proves who made it.
 */
export function answerableBy(parameters: Parameters, reading: RequestedApplication & { fault?: Fault }): Parameters {
  if (reading.fault !== 'request_not_supported') return parameters
  return { ...parameters, ...readObject(parameters.request, reading.application.oidc) }
}

function readObject(text: string, oidc: OidcCopy): Partial<Pick<Parameters, 'responseMode' | 'state'>> {
  const { response_mode: responseMode, state } = decode(text)
  return {
    ...(typeof responseMode === 'string' && responseModesOf(oidc).includes(responseMode) && { responseMode }),
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
