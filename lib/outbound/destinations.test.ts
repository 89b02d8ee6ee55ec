import { describe, expect, test } from 'vitest'
import { destinations } from './destinations.ts'

const strict = destinations.default!

describe('without a setting', () => {
  test.each([
    'https://example.com/hook',
    'https://example.com:8443/hook?x=1',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://xn--bcher-kva.example/',
    'https://10.example.com/',
  ])('%s is fine', (url) => expect(strict.faultOf(url)).toBeUndefined())

  test.each([
    'http://example.com/hook',
    'ftp://example.com',
    'file:///etc/passwd',
    'example.com',
    'https:example.com',
    'https:///example.com/x y',
    'https://user@example.com/',
    'https://user:pass@example.com/',
    'https://example.com/#part',
    'https://localhost/',
    'https://LOCALHOST./',
    'https://a.localhost/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://127.0.0.1./',
    'https://0x7f.1./',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://0/',
    'https://127。0。0。1/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[64:ff9b:1::a00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001::1]/',
    'https://[2001:db8::1]/',
    'https://[fe80::1]/',
    'https://[fec0::1]/',
    'https://[fd00:ec2::254]/',
    'https://[ff02::1]/',
    'https://169.254.169.254/latest/meta-data/',
    'https://10.0.0.1/',
    'https://172.31.255.255/',
    'https://192.168.1.1/',
    'https://100.64.0.1/',
    'https://198.18.0.1/',
    'https://192.0.0.8/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
  ])('%s is refused', (url) => expect(strict.faultOf(url)).toMatch(/^(must|is) /))

  test('nothing is sent without TLS', () => expect(strict.allows('8.8.8.8', false)).toBe(false))
  test('the address of a name is checked in the same way', () => {
    expect(strict.allows('8.8.8.8', true)).toBe(true)
    expect(strict.allows('172.15.255.255', true)).toBe(true)
    expect(strict.allows('10.1.2.3', true)).toBe(false)
    expect(strict.allows('::ffff:10.1.2.3', true)).toBe(false)
    expect(strict.allows('::ffff:8.8.8.8', true)).toBe(false)
  })
})

describe('with networks that the operator names', () => {
  const some = destinations.read('127.0.0.1, 10.1.0.0/16 ,fd00::/8')

  test.each([
    'http://127.0.0.1:8080/',
    'http://localhost:8080/',
    'https://10.1.2.3/',
    'http://[fd00::1]/',
    'http://name/',
  ])('%s is fine', (url) => expect(some.faultOf(url)).toBeUndefined())
  test.each(['http://127.0.0.2/', 'https://10.2.0.1/', 'http://8.8.8.8/', 'https://[::1]/'])('%s is refused', (url) =>
    expect(some.faultOf(url)).toBeDefined(),
  )
  test('http leads only to these networks', () => {
    expect(some.allows('10.1.2.3', false)).toBe(true)
    expect(some.allows('8.8.8.8', false)).toBe(false)
    expect(some.allows('8.8.8.8', true)).toBe(true)
  })
  test.each(['localhost', '10.0.0.0/33', '10.0.0.0/x', '10.0.0.0/', 'all'])('%s is not a network', (text) =>
    expect(() => destinations.read(text)).toThrow('is not a list'),
  )
})
