import { pino } from 'pino'
import { beforeEach, describe, expect, test } from 'vitest'
import { createClientAddresses, networkOf, watchProxies } from './client-addresses.ts'

const silent = pino({ level: 'silent' })
const peer = '192.0.2.9'

function read(forwarded: string | undefined, proxies = 1, peerAddress = peer): string {
  const header = (name: string) => (name === 'x-forwarded-for' ? forwarded : undefined)
  return createClientAddresses(proxies, silent)({ header, peerAddress })
}

describe('X-Forwarded-For', () => {
  test.each([
    ['198.51.100.1', '198.51.100.1'],
    ['198.51.100.1:4711', '198.51.100.1'],
    ['  198.51.100.1:1 ', '198.51.100.1'],
    ['[2001:db8:1:2::1]:4711', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['::ffff:198.51.100.1', '198.51.100.1'],
    ['[::ffff:198.51.100.1]:80', '198.51.100.1'],
    ['spoofed, 198.51.100.1:80', '198.51.100.1'],
    ['198.51.100.1, ,', '198.51.100.1'],
    [`${'9.9.9.9,'.repeat(100_000)} 198.51.100.1`, '198.51.100.1'],
  ])('%.60s is %s', (forwarded, address) => {
    expect(read(forwarded)).toBe(address)
  })

  test.each([
    '',
    ' ',
    ',',
    ',,, ,',
    'unknown',
    '_hidden',
    'for=198.51.100.1',
    '"198.51.100.1"',
    '198.51.100.1:',
    '198.51.100.1:x',
    '198.51.100.1:80:90',
    '198.51.100',
    '1',
    '0x7f000001',
    '300.1.1.1',
    '[198.51.100.1',
    '[]:80',
    '[x]:80',
    '198.51.100.1\r\nx',
    'ü',
    'x'.repeat(100_000),
  ])('%.60j is no address: the other end of the connection counts', (forwarded) => {
    expect(read(forwarded)).toBe(peer)
  })

  test('counts from the right, as far as there are proxies', () => {
    const forwarded = 'spoofed, 10.0.0.1:1, 10.0.0.2:2, 10.0.0.3'
    expect([0, 1, 2, 3].map((proxies) => read(forwarded, proxies))).toEqual([peer, '10.0.0.3', '10.0.0.2', '10.0.0.1'])
    expect(read('10.0.0.3', 2)).toBe('10.0.0.3')
    expect(read(undefined, 2)).toBe(peer)
  })

  test('of ten proxies is read whole, whatever the client wrote before it', () => {
    const longest = Array.from({ length: 10 }, (_, n) => `[2001:0db8:0000:000${n}:0000:0000:255.255.255.255]:65535`)
    expect(read(`${'x'.repeat(10_000)}, ${longest.join(', ')}`, 10)).toBe('2001:db8:0:0::/64')
  })
})

test('the peer may have an IPv6 address with a zone', () => {
  expect(read(undefined, 0, 'fe80::1%eth0')).toBe('fe80:0:0:0::/64')
})

test.each([
  ['10.0.0.1', '10.0.0.1'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['::FFFF:0a00:0001', '10.0.0.1'],
  ['0:0:0:0:0:ffff:10.0.0.1', '10.0.0.1'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:db8::5:6:7:8', '2001:db8:0:0::/64'],
  ['2001:db8::1:2:3:4:5', '2001:db8:0:1::/64'],
  ['2001:db8:1:2:3:4:10.0.0.1', '2001:db8:1:2::/64'],
  ['64:ff9b::10.0.0.1', '64:ff9b:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['1::', '1:0:0:0::/64'],
  ['', ''],
])('%s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

describe('the log of contradictions with TRUSTED_PROXIES', () => {
  let lines: { level: number; msg: string }[]

  beforeEach(() => {
    lines = []
  })

  function watch(proxies: number) {
    return watchProxies(proxies, pino({}, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) }))
  }

  test('the log warns once of an uncounted proxy, also where it is one of a few', () => {
    const see = watch(0)
    for (let n = 0; n < 99; n++) see(`10.0.0.${n % 3}`, true)
    expect(lines).toEqual([])
    for (let n = 0; n < 1000; n++) see('10.0.0.1', true)
    expect(lines).toEqual([
      expect.objectContaining({ level: 40, msg: expect.stringContaining('set TRUSTED_PROXIES to') }),
    ])
  })

  test('clients that send the header themselves are no proxies: other clients send none, or they are many', () => {
    const see = watch(0)
    for (let n = 0; n < 1000; n++) see(n % 50 === 0 ? '10.0.0.2' : '10.0.0.1', n % 50 !== 0)
    for (let n = 0; n < 1000; n++) see(`10.0.0.${n % 5}`, true)
    expect(lines).toEqual([])
  })

  test('the log warns once of a counted proxy that is missing', () => {
    const see = watch(1)
    for (let n = 0; n < 1000; n++) see(`10.0.0.${n % 99}`, n % 99 === 0)
    expect(lines).toEqual([])
    for (let n = 0; n < 1000; n++) see(`10.0.0.${n % 99}`, false)
    expect(lines).toEqual([expect.objectContaining({ level: 40, msg: expect.stringContaining('set it to 0') })])
  })

  test('calls that agree with the setting cause no warning', () => {
    const [none, one] = [watch(0), watch(1)]
    for (let n = 0; n < 1000; n++) {
      none('10.0.0.1', false)
      one('10.0.0.1', true)
    }
    expect(lines).toEqual([])
  })
})
