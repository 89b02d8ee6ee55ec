import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { Operation } from '../examples/contract.ts'
import { getUser, newMember, newOrganization, unique } from '../examples/people.ts'
import { frame, readError, readFrames, readTrailers } from './clients/grpc-web-text.ts'
import { readError as readGrpcError } from './clients/grpc.ts'
import { grpcPath } from './clients/messages.ts'

const { url } = inject('roster')
const grpc = new Client(new URL(url).host, credentials.createInsecure())
let user: Awaited<ReturnType<typeof newMember>>
let manager: typeof user

beforeAll(async () => {
  const organization = await newOrganization()
  ;[user, manager] = await Promise.all([newMember(organization, []), newMember(organization, ['ORG_USER_MANAGER'])])
})
afterAll(() => grpc.close())

type Send = (operation: Operation, bytes: Uint8Array, token: string) => Promise<{ code: number } | undefined>

const overGrpc: Send = (operation, bytes, token) => {
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${token}`)
  const same = (buffer: Buffer) => buffer
  return new Promise((resolve) => {
    const finish = (error: ServiceError | null) => resolve(error ? readGrpcError(error) : undefined)
    grpc.makeUnaryRequest(grpcPath(operation), same, same, Buffer.from(bytes), metadata, finish)
  })
}

const overGrpcWeb: Send = async (operation, bytes, token) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/grpc-web+proto' }
  const body = new Uint8Array(frame(bytes))
  const response = await fetch(url + grpcPath(operation), { method: 'POST', headers, body })
  return readError(readTrailers(readFrames(Buffer.from(await response.arrayBuffer()))))
}

const malformed = { code: 3, details: [{ reason: 'REQUEST_MALFORMED' }] }

// A bad value in its proper field, followed by a good one with the same number and a wire type that texts do not have.
describe.each([
  ['grpc', overGrpc],
  ['grpc-web', overGrpcWeb],
])('over %s no bad value passes behind a good one:', (_, send) => {
  test.each([0, 1, 3, 4, 5, 6, 7])(
    'commands for the broker in the id of a machine user, wire type %i',
    async (type) => {
      const id = `${unique('id')}\r\nPUB roster.users.v1.CredentialService.AddMachineKey 0\r\n\r\n`
      const request = text(1, unique('robot')).raw(text(2, 'Robot').finish()).raw(text(5, id).finish())
      expect(await send('AddMachineUser', hide(request, 5, type), manager.token)).toMatchObject(malformed)
    },
  )

  test.each([0, 1, 3, 4, 5, 6, 7])('an empty name, wire type %i', async (type) => {
    const before = await getUser(user.userId)
    const request = text(2, 'Last').raw(text(4, 'Display').finish()).raw(Uint8Array.of(0x0a, 0))
    expect(await send('UpdateMyProfile', hide(request, 1, type), user.token)).toMatchObject(malformed)
    expect(await getUser(user.userId)).toEqual(before)
  })

  test('a link of another kind, in a message of two parts', async () => {
    const before = await getUser(user.userId)
    const request = text(1, user.userId).raw(text(2, 'a@example.com').finish())
    const [bad, good] = ['javascript:alert(1)', ''].map((link) => text(1, link).finish())
    const twice = request.raw(part(3, bad!)).raw(part(3, good!)).finish()
    expect(await send('SetEmail', twice, user.token)).toMatchObject({ code: 3 })
    expect(await getUser(user.userId)).toEqual(before)
  })
})

function text(number: number, value: string): BinaryWriter {
  return new BinaryWriter().tag(number, 2).string(value)
}

function part(number: number, bytes: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(number, 2).bytes(bytes).finish()
}

function hide(request: BinaryWriter, number: number, wireType: number): Uint8Array {
  return request.tag(number, wireType).string('abc').finish()
}
