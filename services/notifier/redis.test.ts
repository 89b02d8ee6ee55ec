import { expect, test } from 'vitest'
import { redisOptions, redisUrl } from './redis.ts'

test('a URL of Redis names host, port, user, password, database and TLS', () => {
  expect(redisOptions('redis://h')).toEqual({ host: 'h', port: 6379, db: 0 })
  expect(redisOptions('rediss://u:p%40@[::1]:1/2')).toEqual({
    host: '::1',
    port: 1,
    db: 2,
    username: 'u',
    password: 'p@',
    tls: {},
  })
})

test('a URL of Sentinels names them, the master and both passwords', () => {
  expect(redisOptions('rediss+sentinel://:p@a:1,b/main?sentinel_password=s')).toEqual({
    sentinels: [
      { host: 'a', port: 1 },
      { host: 'b', port: 26_379 },
    ],
    name: 'main',
    password: 'p',
    sentinelPassword: 's',
    tls: {},
    enableTLSForSentinelMode: true,
    sentinelTLS: {},
  })
})

test.each(['http://h', 'redis://a,b', 'h:6379'])('%s is no URL of Redis', (text) =>
  expect(() => redisUrl.read(text)).toThrow('is not a URL of the kind redis://'),
)

test('a URL of Sentinels without a master is refused', () =>
  expect(() => redisUrl.read('redis+sentinel://a,b')).toThrow('does not name the master'))
