import type { JsonObject } from '@bufbuild/protobuf'
import { type Arbitrary, array, assert, asyncProperty, constantFrom, oneof, record, string, tuple } from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Operation } from '../../examples/contract.ts'
import { admin } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { over } from '../clients/encodings.ts'

const text = oneof(
  string({ unit: 'binary', maxLength: 250 }),
  constantFrom('', '\0', '__proto__', 'default', 'admin', "'; drop table events; --"),
)
// A client cannot put such a text into a path, so never send one.
const id = text.map((value) => (/^\.{0,2}$/.test(value) ? 'unknown' : value.toWellFormed()))

const requests: [Operation, Arbitrary<JsonObject>][] = [
  ['UpdateMyProfile', some('firstName', 'lastName', 'nickName', 'displayName', 'preferredLanguage')],
  ['UpdateIDP', record({ idpId: id, name: text })],
  ['AddMachineUser', some('userName', 'name', 'description', 'userId')],
  ['SetEmail', record({ userId: id, email: text, sendCode: some('urlTemplate') })],
  ['AddUserGrant', tuple(id, text, array(text, { maxLength: 5 })).map(toUserGrant)],
  ['VerifyEmail', record({ userId: id, verificationCode: text })],
  ['AddPersonalAccessToken', record({ userId: id })],
  ['AddMachineKey', record({ userId: id, publicKey: text })],
  ['RemoveMachineKey', record({ userId: id, keyId: id })],
  ['GetUserGrant', record({ userId: id, grantId: id })],
]

describe.each(over('connect'))('no request is answered with INTERNAL over $encoding', ({ call }) => {
  test.each(requests)('%s, with any texts', async (operation, arbitrary) => {
    await assert(
      asyncProperty(arbitrary, async (request) => {
        const { code } = factsOf(await call(operation, wellFormed(request), admin()))
        expect([0, 3, 5, 6, 7, 9]).toContain(code)
      }),
      { numRuns: 25 },
    )
  })
})

// Any of these fields, or none.
function some(...names: string[]): Arbitrary<Record<string, string>> {
  const fields = Object.fromEntries(names.map((name) => [name, text]))
  return record(fields, { requiredKeys: [] }) as Arbitrary<Record<string, string>>
}

function toUserGrant([userId, projectId, roleKeys]: [string, string, string[]]): JsonObject {
  return { userId, projectId, roleKeys }
}

// Only JSON can carry half a surrogate pair.
function wellFormed(request: JsonObject): JsonObject {
  return JSON.parse(
    JSON.stringify(request, (_, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)),
  )
}
