import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DescMessage, getOption } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { registry } from '#lib/registry'
import { offered } from '#lib/rpc/methods'
import { models } from '../../operator/models.ts'

const personal = registry.getExtension('roster.options.v1.personal')!
const names = new Set<string>()
for (const type of registry)
  if (type.kind === 'message' && type.typeName.startsWith('roster.events.'))
    for (const field of type.fields) if (getOption(field, personal) === true) names.add(field.jsonName)

test('only a service that encrypts has personal fields', () => {
  const files = [...registry.files].filter(({ name }) => name.startsWith('roster/events/v1/'))
  const marked = files.filter(({ messages }) =>
    messages.some(({ fields }) => fields.some((field) => getOption(field, personal) === true)),
  )
  const encrypting = Object.entries(models).flatMap(([name, model]) =>
    model.personal ? [`roster/events/v1/${name}`] : [],
  )
  expect(marked.map(({ name }) => name)).toEqual(encrypting)
})

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
  // Callers give no key to an internal method, nor to a page.
  for (const { subject, reads, desc } of offered)
    if (!reads && subject.startsWith('roster.users.')) look(subject, desc.output, [])
  expect(found).toEqual([])
})

// `description` and `name` also belong to things that are no person.
const personalNames = new Set([...names].filter((name) => !['name', 'description', 'failure'].includes(name)))
