import { globSync, readFileSync } from 'node:fs'
import { create } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { type Method, offered } from '#lib/rpc/methods'
import { validate } from '#lib/rpc/validate'

const named = (some: readonly Method[]) => some.map((method) => [method.desc.name, method] as const)
const paged = offered.filter(({ desc }) => desc.input.field['cursor'])
const outcomes = readFileSync(new URL('../e2e/authorization/outcomes.txt', import.meta.url), 'utf8').split('\n')
const tests = globSync('test/{e2e,examples,model}/**/*.ts')
  .filter((file) => !file.includes('authorization'))
  .map((file) => readFileSync(file, 'utf8'))

test('there are lists with pages', () => expect(paged.length).toBeGreaterThan(20))

describe.each(named(paged))('%s has pages:', (_, { desc, subject }) => {
  const faults = (fields: Record<string, unknown>) =>
    validate(desc.input, create(desc.input, fields)).map(({ field }) => field)

  test('of up to 1,000', () => {
    for (const limit of [-1, 1001]) expect(faults({ limit })).toContain('limit')
    for (const limit of [0, 1000]) expect(faults({ limit })).not.toContain('limit')
  })
  test('from a cursor of at most 20,000 characters', () => {
    expect(faults({ cursor: 'x'.repeat(20_001) })).toContain('cursor')
  })
  test('whose answers say where the next one begins', () => {
    const { next_cursor, nextCursor, cursor } = desc.output.field
    expect([next_cursor ?? nextCursor ?? cursor, subject]).toEqual([
      expect.objectContaining({ fieldKind: 'scalar' }),
      subject,
    ])
  })
})

describe.each(named(offered))('%s', (name, { access, http, oauth }) => {
  test('is tried by somebody who may not call it, unless anybody may', () => {
    const row = outcomes.find((line) => line.startsWith(`${name} `)) ?? ''
    if (access.rule !== 'public') expect(row).toMatch(/ (16|7)\b/)
  })
  test('is called by a test of what it does', () => {
    // Some tests make the names of an organization's operations from those of the instance, or fetch a document by its name.
    const document = oauth === 'document' ? http!.template.split('/').at(-1)! : name
    const names = [name, name.replace('Organization', ''), document]
    expect(tests.some((text) => names.some((each) => text.includes(each)))).toBe(true)
  })
})
