import { type IDPCheck, IDPCheckKind as Kind } from '#gen/roster/idp/v1/idp_check'
import { checkClock } from '../check-clock.ts'
import { checkKeys } from '../check-keys.ts'
import { notChecked, spoken } from '../checks.ts'
import type { Upstream } from '../protocol.ts'
import { longestLife } from './verify.ts'

export async function testJwt({ configuration, fetch, clockAhead }: Upstream<'jwt'>): Promise<IDPCheck[]> {
  const { keysEndpoint, audience } = configuration
  const { check, answer } = await checkKeys(fetch, keysEndpoint)
  const clock = answer
    ? checkClock(keysEndpoint, answer, clockAhead)
    : notChecked(Kind.IDP_CHECK_KIND_CLOCK, keysEndpoint, 'No answer came.')
  // A token comes with a person alone.
  const wanted = `A token needs the aud ${audience}, sub, iat, and an exp within ${longestLife} seconds of it.`
  return [spoken, clock, check, notChecked(Kind.IDP_CHECK_KIND_CLAIMS, '', wanted)]
}
