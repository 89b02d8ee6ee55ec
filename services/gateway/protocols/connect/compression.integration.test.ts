import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { RosterError } from '#lib/errors'
import { method } from '#lib/rpc/methods'
import { encode, reasonOf } from '../../testing/raw-calls.ts'
import { recordingGateway } from '../../testing/recording-gateway.ts'

const users = 'roster.users.v1.UserService'
const setEmail = method(`${users}.SetEmail`)
const searchUsers = method(`${users}.SearchUsers`)
const admin = { authorization: 'Bearer admin' }
const json = { ...admin, 'content-type': 'application/json' }
const proto = { ...admin, 'content-type': 'application/proto' }
const request = { userId: 'u', email: 'a@b.c' }
const bytes = encode(setEmail, request)
const found = { users: Array.from({ length: 100 }, (_, n) => ({ userId: `user-${n}`, userName: `Somebody ${n}` })) }
const services = recordingGateway(setEmail, searchUsers)
const { ask } = services

describe('compression', () => {
  const search = (headers: object) => ask(searchUsers.path, { headers: { ...json, ...headers }, body: '{}' })

  test('a compressed request is undone, as far as a message may go', async () => {
    const headers = { ...proto, 'content-encoding': 'gzip' }
    expect((await ask(setEmail.path, { headers, body: gzipSync(bytes) })).status).toBe(200)
    expect(services.received[0]!.request).toEqual(request)
    const bomb = await ask(setEmail.path, { headers, body: gzipSync(Buffer.alloc(64 * 1024 * 1024)) })
    expect([bomb.status, reasonOf(bomb)]).toEqual([429, 'REQUEST_TOO_LARGE'])
    expect(bomb.body.toString(), 'nothing beyond the limit is inflated').toContain('more than 1 MiB')
    const small = gzipSync(Buffer.alloc(900 * 1024, 10))
    const query = `base64=1&compression=gzip&encoding=proto&message=${small.toString('base64url')}`
    expect(reasonOf(await ask(`${searchUsers.path}?${query}`, { method: 'GET', headers: admin }))).toMatch(
      /REQUEST_(MALFORMED|TOO_LARGE)/,
    )
  })

  test('nothing is nothing, whatever its compression', async () => {
    expect((await ask(searchUsers.path, { headers: { ...proto, 'content-encoding': 'gzip' } })).status).toBe(200)
  })

  test('a long answer to a read is compressed for a client that takes it', async () => {
    services.answer = () => found
    for (const accepted of ['gzip', 'br, gzip;q=0.5', 'deflate,GZIP']) {
      const { headers, body } = await search({ 'accept-encoding': accepted })
      expect([headers['content-encoding'], headers['vary']]).toEqual(['gzip', 'Origin, Accept-Encoding'])
      expect(Number(headers['content-length'])).toBe(body.length)
      expect(JSON.parse(gunzipSync(body).toString())).toMatchObject(found)
    }
    for (const accepted of [undefined, '', 'br', 'gzip;q=0', 'gzip; q=0.000', 'xgzip']) {
      const { headers, body } = await search(accepted === undefined ? {} : { 'accept-encoding': accepted })
      expect(headers).not.toHaveProperty('content-encoding')
      expect(JSON.parse(body.toString())).toMatchObject(found)
    }
  })

  test('a short answer, an answer to a write and an error are not compressed', async () => {
    const accepted = { 'accept-encoding': 'gzip' }
    expect((await search(accepted)).headers).not.toHaveProperty('content-encoding')
    services.answer = () => ({ verificationCode: 'x'.repeat(5000) })
    const written = await ask(setEmail.path, { headers: { ...proto, ...accepted }, body: bytes })
    expect([written.status, written.headers['content-encoding']]).toEqual([200, undefined])
    services.answer = () => {
      throw new RosterError('NOT_FOUND', 'A_REASON', 'x'.repeat(5000))
    }
    expect((await search(accepted)).headers).not.toHaveProperty('content-encoding')
  })
})
