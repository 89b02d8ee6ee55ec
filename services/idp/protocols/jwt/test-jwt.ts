import { IDPCheckKind as Kind } from '#gen/roster/idp/v1/idp_check'
import { checkClock } from '../check-clock.ts'
import { checkKeys } from '../check-keys.ts'
import { notChecked, notSpokenYet } from '../checks.ts'
import type { ProtocolWork } from '../protocol.ts'

/** JSON Web Tokens in a header: Roster asks the provider for its keys alone. */
export const jwt: ProtocolWork<'jwt'> = {
  async test({ configuration: { keysEndpoint }, fetch, clockAhead }) {
    const { check, answer } = await checkKeys(fetch, keysEndpoint)
    const clock = answer
      ? checkClock(keysEndpoint, answer, clockAhead)
      : notChecked(Kind.IDP_CHECK_KIND_CLOCK, keysEndpoint, 'No answer came.')
    return [notSpokenYet, clock, check]
  },
}
