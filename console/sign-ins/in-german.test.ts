import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ParameterRule } from '#gen/roster/users/v1/sign_in_service'
import { refuseGrant } from '../../services/users/openid/authorization/refuse-grant.ts'
import { type GrantFault, invalidGrant } from '../../services/users/openid/authorization/refusals.ts'
import { describe as describeMistake, type Rule } from '../../services/users/openid/request/mistakes.ts'
import { inGerman } from './in-german.ts'

const openid = new URL('../../services/users/openid/', import.meta.url)
const english = /\b(must|the|which|with|and|one|it|is|its|or)\b/
const rules = Object.values(ParameterRule).filter((rule): rule is Rule => typeof rule === 'number' && rule > 0)

test.each(rules)('what rule %i demands of a parameter is said in German', (rule) => {
  for (const values of [['first_value'], ['first_value', '10', '20']]) {
    const said = inGerman(describeMistake({ parameter: 'a_parameter', rule, values }))
    expect(said).toContain('a_parameter')
    expect(said).not.toMatch(english)
  }
})

const texts = [
  'redirect_uri is none that the application has registered.',
  'The application is not registered for refresh tokens: its grantTypes lack OIDC_GRANT_TYPE_REFRESH_TOKEN.',
  'scope: it is unknown, or gives this client nothing.',
  'The request needs a valid DPoP proof.',
]

test.each(texts)('%s is said in German', (text) => {
  const files = ['authorization/refuse-request', 'refresh/refresh', 'scope', 'tokens/token-proof']
  const sources = files.map((file) => readFileSync(new URL(`${file}.ts`, openid), 'utf8')).join('')
  // The name of the parameter stands before it.
  expect(sources).toContain(text.replace('redirect_uri ', '').replace(/\.$/, ''))
  expect(inGerman(text)).not.toMatch(english)
})

const faults: Record<GrantFault, true> = {
  unknown: true,
  client: true,
  expired: true,
  'code-reuse': true,
  'refresh-reuse': true,
  'redirect-uri': true,
  verifier: true,
  key: true,
  factor: true,
  revoked: true,
  'signed-out': true,
  surplus: true,
  'shut-out': true,
}

test.each(Object.keys(faults) as GrantFault[])(
  'why a code or a refresh token was not accepted (%s) is said in German',
  (fault) => {
    for (const what of ['code', 'refresh-token'] as const)
      for (const codeVerifier of ['', 'short', 'v'.repeat(43)])
        for (const challenge of ['a challenge', undefined]) {
          const said = inGerman(descriptionOf(fault, what, codeVerifier, challenge))
          expect(said).toBeDefined()
          expect(said).not.toMatch(english)
        }
  },
)

test('a sentence that is not known is not translated, and what a client sent stays as it is', () => {
  expect(inGerman('Something else.')).toBeUndefined()
  expect(inGerman('$1 must be a whole number of seconds.')).toBe('$1 muss eine ganze Zahl von Sekunden sein.')
})

// As users keeps it for the application.
function descriptionOf(fault: GrantFault, what: 'code' | 'refresh-token', codeVerifier: string, challenge?: string) {
  let description = ''
  const context = {
    log: { info: () => {} },
    arrivals: { refuse: (refusal: { description: string }) => (description = refusal.description) },
  }
  const client = { application: { id: 'a', clientId: 'a', config: {} } }
  const authorization = { id: 'a', state: { challenge } }
  const presented = { request: { grantType: 'code', codeVerifier }, what, client, authorization }
  try {
    refuseGrant(context as never, presented as never, invalidGrant(fault), { requestId: 'r', clientAddress: '' })
  } catch {
    // Only what it noted matters here.
  }
  return description
}
