import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { primaryDomain } from './new-organization.ts'

const domain = (name: string, suffix?: string) => primaryDomain(name, 'https://id.example.com:8443/path', suffix)

describe('the primary domain is a slug of the name under the host of the public URL', () => {
  test.each([
    ['Default', 'default'],
    ['ACME Corp.', 'acme-corp'],
    ['Müller & Söhne', 'muller-sohne'],
    ['Ｆｕｌｌｗｉｄｔｈ', 'fullwidth'],
    ['İstanbul', 'istanbul'],
    ['  --a__b--  ', 'a-b'],
    ['№ 1', 'no-1'],
    ['株式会社', 'org'],
    ['🦊🦊', 'org'],
    ['...', 'org'],
    ['x'.repeat(200), 'x'.repeat(50)],
    [`${'x'.repeat(49)} y`, 'x'.repeat(49)],
    ['evil.example/@#?', 'evil-example'],
    ['a\u202eb', 'a-b'],
  ])('%s: %s', (name, slug) => expect(domain(name)).toBe(`${slug}.id.example.com`))
})

test('a taken name gets a suffix', () => {
  expect(domain('Default', '1a2b3c4d')).toBe('default-1a2b3c4d.id.example.com')
  expect(domain('株式会社', '1a2b3c4d')).toBe('org-1a2b3c4d.id.example.com')
})

test('every name gives a domain that DNS accepts, and no other host', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), fc.boolean(), (name, suffixed) => {
      const [label, ...rest] = domain(name, suffixed ? '1a2b3c4d' : '').split('.')
      expect(label).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/)
      expect(rest.join('.')).toBe('id.example.com')
    }),
    { numRuns: 3000 },
  )
})
