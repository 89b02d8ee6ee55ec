import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { methods } from '#lib/rpc/methods'

/** Fields that may come twice: their secret is stored or looked up. Nothing is used up, and no try counts. */
const harmless = [
  ...['AddLDAPIDP', 'UpdateIDPLDAPConfig'].map((name) => `idp.v1.${name}Request.bind_password`),
  ...['AddOAuthIDP', 'AddOIDCIDP', 'UpdateIDPOAuthConfig', 'UpdateIDPOIDCConfig'].map(
    (name) => `idp.v1.${name}Request.client_secret`,
  ),
  ...['AddIdentityProvider', 'ReplaceIdentityProvider'].map((name) => `idp.v1.${name}Request.client_secret`),
  // It was made a moment ago, and proves nothing without the answer.
  'idp.v1.BeginProviderSignInRequest.code_verifier',
  'users.v1.AddHumanUserRequest.password',
  'users.v1.AuthenticateRequest.token_hash',
  'users.v1.ExplainTokenRequest.token',
]

const isText = ({ scalar }: DescField) => scalar === ScalarType.STRING || scalar === ScalarType.BYTES
const secret = /(^|_)(password|secret|token|token_hash|code|code_verifier|verifier|assertion|proof|cookie|otp|ticket)$/

function secretsIn(message: DescMessage, within: DescMessage[] = []): string[] {
  if (within.includes(message)) return []
  return message.fields.flatMap((field) => {
    if (field.message) return secretsIn(field.message, [...within, message])
    return isText(field) && secret.test(field.name) ? [`${message.typeName}.${field.name}`] : []
  })
}

const repeatable = [...methods.values()].filter((method) => method.repeatable)

test('what takes a secret from a caller is never asked again, unless the secret is only stored', () => {
  const found = new Set(repeatable.flatMap(({ desc }) => secretsIn(desc.input)))
  expect([...found].toSorted()).toEqual(harmless.map((path) => `roster.${path}`).toSorted())
})

test('no page, no write of a stranger, no stream, and nothing that waits for events is asked again', () => {
  expect(repeatable.length).toBeGreaterThan(100)
  const other = repeatable.filter(
    ({ page, streams, access, reads, desc }) =>
      page || streams || desc.input.field['waitSeconds'] || (access.rule === 'public' && !reads),
  )
  expect(other.map(({ subject }) => subject)).toEqual([])
})
