import { expect, test } from 'vitest'
import { readGatewayConfig } from './config.ts'

const key = Buffer.alloc(32, 7).toString('base64')
const ROSTER_CALLER_KEYS = ['users', 'grants', 'idp', 'notifier'].map((service) => `${service}:${key}`).join(', ')

test('nothing needs to be set but the keys', () => {
  const defaults = { PORT: 8080, CORS_ORIGINS: [], TRUSTED_PROXIES: 0, TLS_CERT: undefined }
  expect(readGatewayConfig({ ROSTER_CALLER_KEYS })).toMatchObject(defaults)
  expect(() => readGatewayConfig({})).toThrow('ROSTER_CALLER_KEYS is not set')
})

test.each([
  [`users:${key},idp:${key}`, 'ROSTER_CALLER_KEYS has no key for grants, notifier'],
  [ROSTER_CALLER_KEYS.replace('=', 'x'), 'ROSTER_CALLER_KEYS is not 32 bytes in base64'],
  [`${ROSTER_CALLER_KEYS},idp:${key}`, 'ROSTER_CALLER_KEYS names a service twice'],
  ['users', 'ROSTER_CALLER_KEYS is not 32 bytes in base64'],
  [key, 'ROSTER_CALLER_KEYS is not 32 bytes in base64'],
])('unusable keys are refused without being shown (%#)', (keys, problem) => {
  expect(() => readGatewayConfig({ ROSTER_CALLER_KEYS: keys })).toThrow(problem)
  expect(() => readGatewayConfig({ ROSTER_CALLER_KEYS: keys })).not.toThrow(key)
})

test('without settings the limits are those of the contract', () => {
  expect(readGatewayConfig({ ROSTER_CALLER_KEYS })).toMatchObject({
    WRITES_PER_CALLER: 20,
    WRITES_PER_MEMBER: 500,
    WRITES_PER_ORGANIZATION: 2000,
    STREAMS_PER_CALLER: 10,
    STREAMS_PER_ORGANIZATION: 100,
  })
})

test('every problem is reported together, and no value shown', () => {
  const read = () =>
    readGatewayConfig({
      PORT: 'x1',
      NATS_URL: 'http://secret',
      TRUSTED_PROXIES: '-1',
      TLS_KEY: 'secret',
      ROSTER_CALLER_KEYS: 'users:secret',
    })
  for (const name of ['PORT', 'NATS_URL', 'TRUSTED_PROXIES', 'TLS_CERT', 'ROSTER_CALLER_KEYS'])
    expect(read).toThrow(name)
  expect(read).not.toThrow('secret')
})

test('a certificate and a key that are no pair are refused', () => {
  expect(() => readGatewayConfig({ ROSTER_CALLER_KEYS, TLS_CERT: 'nonsense', TLS_KEY: 'nonsense' })).toThrow(
    'TLS_CERT and TLS_KEY',
  )
})
