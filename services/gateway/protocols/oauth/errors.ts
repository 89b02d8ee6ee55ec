import { codes, renameFields, type RosterError } from '#lib/errors'
import type { Method } from '#lib/rpc/methods'
import { httpStatus } from '../../listen/http-status.ts'
import { errorHeaders } from '../error-headers.ts'

/** OAuth's name of an error: by its reason, else by its code. */
const byReason = new Map([
  ['INVALID_CLIENT', 'invalid_client'],
  ['INVALID_GRANT', 'invalid_grant'],
  ['INVALID_SCOPE', 'invalid_scope'],
  ['INVALID_TARGET', 'invalid_target'],
  ['UNAUTHORIZED_CLIENT', 'unauthorized_client'],
  ['UNSUPPORTED_GRANT_TYPE', 'unsupported_grant_type'],
  ['DPOP_PROOF_INVALID', 'invalid_dpop_proof'],
  ['REQUEST_TOO_LARGE', 'invalid_request'],
])
const byCode = new Map<number, string>([
  [codes.INVALID_ARGUMENT, 'invalid_request'],
  [codes.UNAUTHENTICATED, 'invalid_token'],
  [codes.PERMISSION_DENIED, 'insufficient_scope'],
  [codes.RESOURCE_EXHAUSTED, 'temporarily_unavailable'],
  [codes.UNAVAILABLE, 'temporarily_unavailable'],
  [codes.DEADLINE_EXCEEDED, 'temporarily_unavailable'],
  [codes.ABORTED, 'temporarily_unavailable'],
])

/** The answer of RFC 6749 section 5.2, or RFC 6750 section 3.1, for an error. `basic`: the client sent HTTP Basic. */
export function toOAuthError(thrown: RosterError, method: Method, basic: boolean) {
  const error = nameParameters(thrown, method)
  const name = byReason.get(error.reason) ?? byCode.get(error.code) ?? 'server_error'
  const description = toDescription(error.message)
  const headers = errorHeaders(error)
  const challenge =
    name === 'invalid_client' ? basicChallenge(description) : bearerChallenge(name, headers['www-authenticate'])
  delete headers['www-authenticate']
  // Challenge only a client that sent its credentials in a header.
  const refused = name === 'invalid_client' && !basic
  if (challenge && !refused) headers['www-authenticate'] = challenge
  return {
    status: refused ? 400 : httpStatus(error),
    headers,
    body: { error: name, error_description: description },
  }
}

// Services name a field as JSON has it.
function nameParameters(error: RosterError, { desc: { input } }: Method): RosterError {
  const headers = new Map([['dpop_proof', 'DPoP']])
  const names = new Map(input.fields.map(({ jsonName, name }) => [jsonName, headers.get(name) ?? name]))
  return renameFields(error, (field) => names.get(field.replace(/\[\d+\]$/, '')) ?? field)
}

// Libraries that read a challenge read no body. Clients ignore parameters that Basic does not know (RFC 7617 section 2).
function basicChallenge(description: string): string {
  return `Basic realm="roster", error="invalid_client", error_description="${description}"`
}

function bearerChallenge(name: string, usual: string | undefined) {
  return name === 'insufficient_scope' ? 'Bearer realm="roster", error="insufficient_scope"' : usual
}

// Keeps to the characters that RFC 6749 allows in a description, and that a quoted string of a header may have.
function toDescription(message: string): string {
  return message
    .replaceAll('"', "'")
    .replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
    .slice(0, 1000)
}
