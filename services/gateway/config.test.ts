import { expect, test } from 'vitest'
import { readGatewayConfig } from './config.ts'

test('nothing needs to be set', () => {
  expect(readGatewayConfig({})).toMatchObject({ PORT: 8080, CORS_ORIGINS: [], TRUSTED_PROXIES: 0, TLS_CERT: undefined })
})

test('the limits are those of the contract where none is set', () => {
  expect(readGatewayConfig({})).toMatchObject({
    WRITES_PER_CALLER: 20,
    WRITES_PER_MEMBER: 500,
    WRITES_PER_ORGANIZATION: 2000,
    STREAMS_PER_CALLER: 10,
    STREAMS_PER_ORGANIZATION: 100,
  })
})

test('every problem is reported together, and no value shown', () => {
  const read = () =>
    readGatewayConfig({ PORT: 'x1', NATS_URL: 'http://secret', TRUSTED_PROXIES: '-1', TLS_KEY: 'secret' })
  for (const name of ['PORT', 'NATS_URL', 'TRUSTED_PROXIES', 'TLS_CERT']) expect(read).toThrow(name)
  expect(read).not.toThrow('secret')
})

test('a certificate and a key that are no pair are refused', () => {
  expect(() => readGatewayConfig({ TLS_CERT: 'nonsense', TLS_KEY: 'nonsense' })).toThrow('TLS_CERT and TLS_KEY')
})
