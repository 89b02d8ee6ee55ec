import { afterEach, expect, test } from 'vitest'
import { callGrpc, callGrpcWeb, callJson } from '../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

const setEmail = 'roster.users.v1.UserService.SetEmail'
let gateway: TestGateway
let seen: string[]

afterEach(() => gateway?.stop())

async function start(proxies: string) {
  seen = []
  const operations = {
    [setEmail]: (_request: object, { clientAddress }: { clientAddress: string }) => {
      seen.push(clientAddress)
      return {}
    },
  }
  gateway = await startTestGateway(operations, { TRUSTED_PROXIES: proxies })
}

async function call(count: number, forwarded?: (n: number) => string) {
  for (let n = 0; n < count; n++) {
    const by = [callJson, callGrpc, callGrpcWeb][n % 3]!
    const headers = { authorization: 'Bearer admin', ...(forwarded && { 'x-forwarded-for': forwarded(n) }) }
    expect(await by(gateway.url, setEmail, { userId: 'u1', email: 'a@example.com' }, headers)).toHaveProperty('answer')
  }
}

const warnings = () => gateway.log.filter(({ level }) => level === 40).map(({ msg }) => String(msg))

test('a client is the same in every encoding, with or without the port that a proxy writes', async () => {
  await start('1')
  await call(6, (n) => `spoofed, 198.51.100.1:${1000 + n}`)
  await call(6, (n) => `[2001:db8:1:2::${n}]:${1000 + n}`)
  await call(3, () => 'for=198.51.100.1')
  expect(seen).toEqual([
    ...Array(6).fill('198.51.100.1'),
    ...Array(6).fill('2001:db8:1:2::/64'),
    ...Array(3).fill('127.0.0.1'),
  ])
})

test('the log warns once of a proxy that TRUSTED_PROXIES does not count', async () => {
  await start('0')
  await call(99, (n) => `198.51.100.${n}`)
  expect(warnings()).toEqual([])
  await call(12, (n) => `198.51.100.${n}`)
  expect(warnings()).toEqual([expect.stringContaining('set TRUSTED_PROXIES')])
  expect(new Set(seen)).toEqual(new Set(['127.0.0.1']))
})
