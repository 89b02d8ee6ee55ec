import { createSecretKey, randomBytes } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  type DescField,
  type DescMessage,
  getOption,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from '@bufbuild/protobuf'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeEvent } from '../events/cloud-event.ts'
import { personalFields } from '../events/marked-fields.ts'
import type { StoredEvent } from '../events/stored-event.ts'
import { registry } from '../registry.ts'
import { decryptEvent, decryptState, encryptedPart, encryptPayload, encryptState } from './encrypted-fields.ts'
import { encryptedAs } from './encrypted-text.ts'

const key = createSecretKey(randomBytes(32))
const other = createSecretKey(randomBytes(32))
// This process remembers what it encrypted with `key`. With another object of the same key it decrypts.
const keys = () => [key, createSecretKey(key.export())]

/** Every event of users that has a personal field, as its aggregate type and type. */
const events = [
  ['user', 'human.added'],
  ['user', 'machine.added'],
  ['user', 'username.changed'],
  ['user', 'machine.changed'],
  ['user', 'profile.changed'],
  ['user', 'email.changed'],
  ['user', 'email.code.requested'],
  ['user', 'email.code.failed'],
  ['user', 'passkey.added'],
  ['user', 'passkey.renamed'],
  ['user', 'idp.linked'],
  ['user.email.notice', 'requested'],
  ['user.email.notice', 'failed'],
  ['user.password.code', 'requested'],
  ['user.password.code', 'failed'],
] as const

const messageNames = events.map(([aggregateType, type]) => describeName(aggregateType, type))

function describeName(aggregateType: string, type: string): string {
  return `roster.events.v1.${`${aggregateType}.${type}`.replace(/(?:^|\.)(.)/g, (_, first: string) => first.toUpperCase())}`
}

test('the list has every message with a personal field', () => {
  const option = registry.getExtension('roster.options.v1.personal')!
  const marked = [...registry].flatMap((desc) => {
    const isEvent = desc.kind === 'message' && desc.typeName.startsWith('roster.events.v1.')
    return isEvent && desc.fields.some((field) => getOption(field, option) === true) ? [desc.typeName] : []
  })
  expect([...new Set(messageNames)].toSorted()).toEqual(marked.toSorted())
})

describe.each(events)('an event of %s, %s,', (aggregateType, type) => {
  const desc = registry.getMessage(describeName(aggregateType, type))!
  const row = (payload: object): StoredEvent => ({
    aggregate_type: aggregateType,
    aggregate_id: 'gigi',
    sequence: '7',
    type,
    payload,
    organization_id: 'acme',
    creator: 'admin',
    request_id: '',
    created_at: new Date(0),
    position: '17',
    transaction_id: '3',
  })

  test('comes back as it was encrypted, whatever is in it, and shows nothing meanwhile', () => {
    fc.assert(
      fc.property(arbitrary(desc), (payload) => {
        const stored = JSON.parse(JSON.stringify(encryptPayload(key, row(payload)))) as object
        for (const name of personalFields(aggregateType, type)) expect(stored).not.toHaveProperty(name)
        for (const own of keys()) expect(decryptEvent(own, row(stored)).payload).toEqual(payload)
        expect(describeEvent('users', decryptEvent(key, row(stored)))).toEqual(describeEvent('users', row(payload)))
      }),
    )
  })

  test('is shown without what was personal, once its key is gone', () => {
    fc.assert(
      fc.property(arbitrary(desc), (payload) => {
        const stored = encryptPayload(key, row(payload))
        if (!(encryptedAs in stored)) return
        const shown = describeEvent('users', decryptEvent(undefined, row(stored)))
        for (const name of personalFields(aggregateType, type)) expect(shown.data).not.toHaveProperty(name)
      }),
    )
  })

  test('cannot be decrypted in another place or with another key, nor described then', () => {
    const full = Object.fromEntries(desc.fields.map((field) => [field.jsonName, sample(field)]))
    const stored = encryptPayload(key, row(full))
    const elsewhere = [{ aggregate_id: 'other' }, { sequence: '8' }, { aggregate_type: 'other' }, { type: 'other' }]
    for (const own of keys())
      for (const changed of elsewhere) expect(decryptEvent(own, { ...row(stored), ...changed }).payload).toBe(stored)
    const strange = decryptEvent(other, row(stored))
    expect(strange.payload).toBe(stored)
    expect(() => describeEvent('users', strange)).toThrow()
  })
})

test('an event without a personal field is stored as it is', () => {
  const event = { aggregate_type: 'user', aggregate_id: 'u', sequence: 1, type: 'pat.added', payload: { tokenId: 't' } }
  expect(encryptPayload(key, event)).toBe(event.payload)
})

test('a state can be decrypted in its own place alone', () => {
  const place = { type: 'user', id: 'gigi', sequence: 3 }
  const state = { userName: 'Gigi', human: { email: 'gigi@example.com' } }
  const encrypted = encryptedPart(encryptState(key, { ...place, state }))!
  for (const own of keys()) {
    expect(decryptState(own, encrypted, { ...place, sequence: '3' })).toEqual(state)
    for (const changed of [{ type: 'other' }, { id: 'other' }, { sequence: 2 }])
      expect(() => decryptState(own, encrypted, { ...place, ...changed })).toThrow()
  }
  expect(() => decryptState(other, encrypted, place)).toThrow()
  expect(encryptedPart(state)).toBeUndefined()
})

function arbitrary(desc: DescMessage): fc.Arbitrary<JsonObject> {
  const entries = desc.fields.map((field): [string, fc.Arbitrary<JsonValue>] => [field.jsonName, valueOf(field)])
  return fc.record(Object.fromEntries(entries), { requiredKeys: [] }) as fc.Arbitrary<JsonObject>
}

function valueOf(field: DescField): fc.Arbitrary<JsonValue> {
  return field.fieldKind === 'list' ? fc.array(itemOf(field), { minLength: 1, maxLength: 3 }) : itemOf(field)
}

function itemOf(field: DescField): fc.Arbitrary<JsonValue> {
  if (field.enum) return fc.constantFrom(...field.enum.values.map(({ name }) => name))
  if (field.message)
    return field.message.typeName === 'google.protobuf.Timestamp'
      ? fc.constant('2026-01-01T12:00:00.123Z')
      : arbitrary(field.message)
  if (field.scalar === ScalarType.BOOL) return fc.boolean()
  return field.scalar === ScalarType.STRING
    ? fc.string({ unit: 'binary' }).map((text) => text.toWellFormed())
    : fc.nat(1e6)
}

function sample(field: DescField): JsonValue {
  return fc.sample(valueOf(field), { numRuns: 1, seed: 1 })[0]!
}

test('large texts are not remembered: any number of them fills no memory', () => {
  const state = 'x'.repeat(2_000_000)
  const place = { type: 'user', id: 'a', sequence: 1 }
  const before = process.memoryUsage()
  for (let n = 0; n < 150; n++) encryptState(key, { ...place, state: `${n}${state}` })
  // Garbage does not count.
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  const { heapUsed, external } = process.memoryUsage()
  expect(heapUsed + external - before.heapUsed - before.external).toBeLessThan(200_000_000)
})
