import { expect, test } from 'vitest'
import { faultOf } from './check-urls.ts'

test.each([
  'https://i.example',
  'https://i.example:8443/a/b?c=d&e=@f',
  'HTTPS://I.EXAMPLE/',
  'https://10.0.0.1/',
  'https://[2001:db8::1]/',
  'http://localhost:3000/callback',
  'http://127.0.0.1',
  'http://[::1]:8080/',
])('"%s" may be the address of a provider', (url) => expect(faultOf(url)).toBeUndefined())

test.each([
  '',
  'i.example',
  'https:i.example',
  'https:///',
  'https://',
  'ftp://i.example',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'http://i.example',
  'http://localhost.evil.example',
  'http://127.0.0.1.evil.example',
  'http://localhost@evil.example',
  'https://user@i.example',
  'https://user:password@i.example',
  'https://@i.example',
  'https://:@i.example',
  'https://i.example\\@evil.example',
  'https://i.example/a b',
  'https://i.example/\n',
  ' https://i.example',
  'https://i.example/#a',
  'https://i.example/#',
  'https://i.example:99999',
])('"%s" may not', (url) => expect(faultOf(url)).toMatch(/^must /))
