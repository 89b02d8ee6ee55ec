import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DescMessage, getOption } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { registry } from '#lib/registry'
import { methods } from '#lib/rpc/methods'

const personal = registry.getExtension('roster.options.v1.personal')!
const names = new Set<string>()
for (const type of registry)
  if (type.kind === 'message' && type.typeName.startsWith('roster.events.'))
    for (const field of type.fields) if (getOption(field, personal) === true) names.add(field.jsonName)

test('the notifier takes every personal field of events from its deliveries', () => {
  const file = join(import.meta.dirname, '../../services/notifier/migrations/functions.sql')
  const [, list = ''] = /function personal_fields[\s\S]*?'\{([^}]*)\}'/.exec(readFileSync(file, 'utf8'))!
  const listed = list.split(',').map((name) => name.trim())
  expect([...names].filter((name) => !listed.includes(name))).toEqual([])
})

// Answers to keyed requests are kept, also those about a user who is removed meanwhile.
test('no answer to a write has a personal field', () => {
  const found: string[] = []
  const look = (method: string, message: DescMessage, path: string[]) => {
    for (const field of message.fields) {
      const here = [...path, field.jsonName]
      if (personalNames.has(field.jsonName)) found.push(`${method} ${here.join('.')}`)
      if (field.message && here.length < 5 && field.message.typeName.startsWith('roster.'))
        look(method, field.message, here)
    }
  }
  // Callers give no key to an internal method.
  for (const [name, { reads, desc, access }] of methods)
    if (!reads && access.rule !== 'internal' && name.startsWith('roster.users.')) look(name, desc.output, [])
  expect(found).toEqual([])
})

// `description` and `name` also belong to things that are no person.
const personalNames = new Set([...names].filter((name) => !['name', 'description', 'failure'].includes(name)))
