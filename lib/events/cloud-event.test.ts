import { type MsgHdrs, MsgHdrsImpl } from 'nats'
import { expect, test } from 'vitest'
import { encodeEvent, readEvent } from './cloud-event.ts'
import type { StoredEvent } from './stored-event.ts'

const requested: StoredEvent = {
  position: '17',
  transaction_id: '900',
  aggregate_type: 'user',
  aggregate_id: 'gigi',
  sequence: '3',
  type: 'email.code.requested',
  payload: { codeId: 'c', keyId: 'k', expiresAt: '2026-01-01T12:00:00.123Z', cause: 'change' },
  organization_id: 'acme',
  creator: 'admin',
  request_id: 'r-1',
  cause: 'users-9',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  created_at: new Date('2026-01-01T11:00:00Z'),
}

const added: StoredEvent = {
  ...requested,
  type: 'machine.added',
  payload: { userName: 'robot', name: 'Robot', description: '', accessTokenType: 0 },
}

function encode(changes: Partial<StoredEvent> = {}, event = requested) {
  const { head, data } = encodeEvent('users', { ...event, ...changes })
  const headers = readHead(head)
  return {
    headers: Object.fromEntries([...headers].map(([name, [value]]) => [name, value!])),
    data,
    read: readEvent(message(headers, data)),
  }
}

const readHead = (head: string) => MsgHdrsImpl.decode(Buffer.from(`NATS/1.0\r\n${head}\r\n`))

const message = (headers: MsgHdrs | undefined, data: string) => ({ headers, json: <T>() => JSON.parse(data) as T })

test('an event is a CloudEvent 1.0 in binary mode', () => {
  const { headers, data } = encode()
  expect(headers).toEqual({
    'ce-specversion': '1.0',
    'ce-id': 'users-17',
    'ce-source': '/roster/users',
    'ce-type': 'roster.user.email.code.requested.v1',
    'ce-subject': 'user/gigi',
    'ce-time': '2026-01-01T11:00:00.000Z',
    'ce-datacontenttype': 'application/json',
    'ce-dataschema': 'proto:roster.events.v1.UserEmailCodeRequested',
    'ce-sequence': '3',
    'ce-organization': 'acme',
    'ce-actor': 'admin',
    'ce-requestid': 'r-1',
    'ce-causationid': 'users-9',
    'ce-traceparent': '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    'ce-cause': 'change',
  })
  expect(JSON.parse(data)).toEqual(requested.payload)
})

test('its data names enum values, and shows empty and false values', () => {
  expect(JSON.parse(encode({}, added).data)).toEqual({
    userName: 'robot',
    name: 'Robot',
    description: '',
    accessTokenType: 'ACCESS_TOKEN_TYPE_BEARER',
  })
})

test('an unknown attribute has no header, since a CloudEvent has no empty attribute', () => {
  const names = Object.keys(encode({ creator: '', request_id: '', cause: null, traceparent: null }, added).headers)
  expect(names).not.toEqual(expect.arrayContaining([expect.stringMatching(/actor|requestid|cause|trace/)]))
})

test('a consumer reads an event as it was written', () => {
  expect(encode().read).toEqual({
    id: 'users-17',
    source: '/roster/users',
    type: 'roster.user.email.code.requested.v1',
    aggregateType: 'user',
    aggregateId: 'gigi',
    organizationId: 'acme',
    sequence: 3,
    actor: 'admin',
    requestId: 'r-1',
    causationId: 'users-9',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    cause: 'change',
    time: '2026-01-01T11:00:00.000Z',
    data: requested.payload,
  })
})

test.each(['a b', '100%', '"quoted"', 'Grüße 🦊', 'line\r\nce-actor: root', '\u0000'])(
  'any text is a header: %j',
  (text) => {
    const { headers, read } = encode({ request_id: text })
    expect(headers['ce-requestid']).toMatch(/^[\x21-\x7e]+$/)
    expect(read).toMatchObject({ requestId: text, actor: 'admin' })
  },
)

test.each([undefined, encodeEventWithoutVersion()])('a message without the headers is no event', (headers) => {
  expect(readEvent(message(headers, '{}'))).toBeUndefined()
})

function encodeEventWithoutVersion() {
  return readHead(encodeEvent('users', requested).head.replace(/^.*\r\n/, ''))
}
