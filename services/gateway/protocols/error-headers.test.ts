import { expect, test } from 'vitest'
import { RosterError } from '#lib/errors'
import { errorHeaders } from './error-headers.ts'

test('Retry-After is whole seconds, never less than RetryInfo', () => {
  const after = (retryAfter: number) => errorHeaders(new RosterError('UNAVAILABLE', 'ANY', '', { retryAfter }))
  expect([1, 1.2, 0.001].map((seconds) => after(seconds)['retry-after'])).toEqual(['1', '2', '1'])
  expect(errorHeaders(new RosterError('NOT_FOUND', 'ANY', ''))).toEqual({})
})

test.each([
  ['TOKEN_MISSING', 'Bearer realm="roster", DPoP realm="roster", algs="ES256 EdDSA Ed25519 RS256"'],
  [
    'TOKEN_INVALID',
    'Bearer realm="roster", error="invalid_token", DPoP realm="roster", algs="ES256 EdDSA Ed25519 RS256"',
  ],
  [
    'TOKEN_FOR_PROJECT',
    'Bearer realm="roster", error="invalid_token", DPoP realm="roster", algs="ES256 EdDSA Ed25519 RS256"',
  ],
  ['DPOP_PROOF_INVALID', 'DPoP realm="roster", error="invalid_dpop_proof", algs="ES256 EdDSA Ed25519 RS256"'],
])('the challenge of %s names the error of a token, and both schemes', (reason, challenge) =>
  expect(errorHeaders(new RosterError('UNAUTHENTICATED', reason, ''))['www-authenticate']).toBe(challenge),
)
