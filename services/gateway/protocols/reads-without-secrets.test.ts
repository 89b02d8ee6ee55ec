import { type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { byGrpcPath } from '../call/routes.ts'
import { mayCompress } from './compression.ts'
import { verbsOf } from './connect/serve.ts'

const offered = [...byGrpcPath.values()]
const secret = /\.(\w*_)?(secret|password|token|code|key_details|private_key|assertion|credential)$/

/** The second is a record in DNS, for everybody to see. */
const open = ['google.rpc.Status.code', 'zitadel.management.v1.GenerateOrgDomainValidationResponse.token']

function secretsIn(descs: DescMessage[]): string[] {
  const found = new Set<string>()
  const seen = new Set<DescMessage>()
  const walk = (desc: DescMessage) => {
    if (seen.has(desc)) return
    seen.add(desc)
    for (const field of desc.fields) {
      // A yes or no holds no secret, whatever its name.
      if (field.scalar !== undefined && field.scalar !== ScalarType.BOOL) found.add(`${desc.typeName}.${field.name}`)
      if (field.message) walk(field.message)
    }
  }
  for (const desc of descs) walk(desc)
  return [...found].filter((field) => secret.test(field) && !open.includes(field))
}

// Their sizes could reveal the secret.
test('no answer that may be compressed has a field for a secret', () => {
  const methods = offered.filter((method) => mayCompress(method, 'gzip'))
  expect(methods.length).toBeGreaterThan(20)
  expect(secretsIn(methods.map(({ desc }) => desc.output))).toEqual([])
})

// Logs and histories keep addresses.
test('no message that may come in an address has a field for a secret', () => {
  const methods = offered.filter((method) => verbsOf(method).includes('GET'))
  expect(methods.length).toBeGreaterThan(20)
  expect(secretsIn(methods.map(({ desc }) => desc.input))).toEqual([])
})

test('this test knows a field for a secret', () => {
  expect(secretsIn(offered.map(({ desc }) => desc.output)).length).toBeGreaterThan(5)
  expect(secretsIn(offered.map(({ desc }) => desc.input)).length).toBeGreaterThan(5)
})
