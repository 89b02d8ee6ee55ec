import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { faultsOf, type Rules } from './rules.ts'
import { sayFault } from './say-fault.ts'

const folder = join(import.meta.dirname, '../../gen/console/rules')
// One of them breaks each rule.
const texts = ['', ' ', '\u202E', 'x'.repeat(30_000), '-1', ' a ', 'no address', '\u00AD']

test('every rule of a form has its sentence in German', () => {
  const faults = readdirSync(folder).flatMap((file) => {
    const rules = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Rules
    return Object.values(rules).flatMap((rule) => texts.flatMap((text) => faultsOf(rule, text)))
  })
  const unknown = new Set(faults.filter((fault) => sayFault(fault, 'de') === fault))
  expect(new Set(faults).size).toBeGreaterThan(10)
  expect([...unknown]).toEqual([])
  expect(sayFault('must be at most 200 characters', 'de')).toBe('darf höchstens 200 Zeichen haben')
})
