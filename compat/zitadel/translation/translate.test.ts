import { create, fromBinary, isFieldSet, toBinary } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import { expect, test } from 'vitest'
import { RosterError } from '#lib/errors'
import { registry } from '#lib/registry'
import { parse } from '#lib/rpc/validate'
import { smuggle, validMessage } from '#test/support/smuggling'
import { compatibleMethods, translationOf } from './compatible-methods.ts'
import { nameFields } from './name-fields.ts'
import { translateAnswer } from './translate-answer.ts'
import { translateRequest } from './translate-request.ts'

const methods = compatibleMethods.map((method) => [method.path, method] as const)
const read = { readUnknownFields: true }

test.each(methods)('%s: any bytes become a request of Roster or an error', (_, method) => {
  const { usual, special } = translationOf(method)!
  const { input } = method.desc
  for (const meaning of [usual, ...special])
    for (const { name, bytes } of [{ name: 'valid', bytes: toBinary(input, validMessage(input)) }, ...smuggle(input)]) {
      try {
        const { request } = translateRequest(meaning.request, parse(input, bytes, read))
        const { input: own } = meaning.method.desc
        expect(request.desc).toBe(own)
        expect(() => fromBinary(own, toBinary(own, request.message))).not.toThrow()
      } catch (error) {
        expect(error, name).toBeInstanceOf(RosterError)
        expect(['FIELD_UNSUPPORTED', 'REQUEST_MALFORMED']).toContain((error as RosterError).reason)
      }
    }
})

test.each(methods)('%s: an answer of Roster becomes one of ZITADEL', (_, method) => {
  const { usual, special } = translationOf(method)!
  for (const { answer } of [usual, ...special]) {
    const own = validMessage(answer.own)
    const foreign = translateAnswer(answer, own, 7)
    expect(() => fromBinary(answer.foreign, toBinary(answer.foreign, foreign))).not.toThrow()
    if (answer.entries.length > 0) expect(answer.foreign.fields.some((field) => isFieldSet(foreign, field))).toBe(true)
  }
})

test('details keep their meaning where their numbers differ', () => {
  const setEmail = compatibleMethods.find(({ path }) => path === '/zitadel.user.v2.UserService/SetEmail')!
  const { answer } = translationOf(setEmail)!.usual
  const [creation, change] = [
    { seconds: 1n, nanos: 0 },
    { seconds: 2n, nanos: 0 },
  ]
  const details = { sequence: 3n, creationDate: creation, changeDate: change, resourceOwner: 'home' }
  const own = create(registry.getMessage('roster.users.v1.SetEmailResponse')!, { details, verificationCode: 'CODE' })
  const bytes = toBinary(answer.foreign, translateAnswer(answer, own, 0))
  const read = reflect(answer.foreign, fromBinary(answer.foreign, bytes)).message
  expect(read).toMatchObject({ details, verificationCode: 'CODE' })
  // Number 2 is the change, and number 4 the creation.
  const block = toBinary(
    registry.getMessage('zitadel.object.v2.Details')!,
    (read as unknown as { details: never }).details,
  )
  expect(Buffer.from(block).toString('hex')).toBe(['0803', '12020802', '1a04686f6d65', '22020801'].join(''))
})

test('a fault keeps everything but the names of its fields', () => {
  const update = compatibleMethods.find(({ path }) => path.endsWith('.ManagementService/UpdateProject'))!
  const { request } = translationOf(update)!.usual
  const violations = [
    { field: 'projectId', description: 'a' },
    { field: 'elsewhere', description: 'b' },
  ]
  const error = new RosterError('INVALID_ARGUMENT', 'VALIDATION_FAILED', 'projectId: a; elsewhere: b', { violations })
  const named = nameFields(request, Object.assign(error, { replayed: true }))
  expect(named).toMatchObject({ code: 3, reason: 'VALIDATION_FAILED', message: 'id: a; elsewhere: b', replayed: true })
  expect(named.violations.map(({ field }) => field)).toEqual(['id', 'elsewhere'])
  const other = new RosterError('NOT_FOUND', 'PROJECT_NOT_FOUND', 'No.')
  expect(nameFields(request, other)).toBe(other)
})
