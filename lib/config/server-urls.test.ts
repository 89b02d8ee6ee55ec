import { expect, test } from 'vitest'
import { readServerUrls, writeServerUrls } from './server-urls.ts'

test.each([
  ['postgres://u:p@a:5432,b:5433/db?sslmode=require', ['a:5432', 'b:5433'], 'postgres://u:p@a:5432/db?sslmode=require'],
  ['nats://u:p@a:4222,nats://u:p@b:4222', ['a:4222', 'b:4222'], 'nats://u:p@a:4222'],
  ['nats://u:p@a, b:1', ['a', 'b:1'], 'nats://u:p@a'],
  ['tls://a:1,tls://[::1]:2', ['a:1', '[::1]:2'], 'tls://a:1'],
  ['redis+sentinel://:p%2Cp@a:1,b:1/main', ['a:1', 'b:1'], 'redis+sentinel://:p%2Cp@a:1/main'],
  ['postgres://host/db', ['host'], 'postgres://host/db'],
])('%s names its servers', (text, hosts, first) => {
  const read = readServerUrls(text)!
  expect([read.hosts, read.first.href]).toEqual([hosts, first])
  expect(readServerUrls(writeServerUrls(read))).toEqual(read)
})

test.each(['host:5432', '//host', 'postgres', 'nats://a,', 'postgres://a:1,b:99999/db', 'nats://a,b c'])(
  '%s names no servers',
  (text) => expect(readServerUrls(text)).toBeUndefined(),
)
