import { type DescField, type DescMessage, getOption, hasOption, ScalarType } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { registry } from '../registry.ts'
import { personalFields, unpublishedFields } from './marked-fields.ts'

const option = registry.getExtension('roster.options.v1.personal')!
const isMarked = (field: DescField) => getOption(field, option) === true
const isText = ({ scalar, name }: DescField) => scalar === ScalarType.STRING && !/_ids?$/.test(name)
const events = [...registry].filter(
  (desc): desc is DescMessage => desc.kind === 'message' && desc.typeName.startsWith('roster.events.v1.'),
)

/** The messages of which a marked field has the whole. */
const covered = new Set(
  events.flatMap(({ fields }) => fields.flatMap((field) => (isMarked(field) && field.message ? [field.message] : []))),
)

test('each text of an event says whether it is personal', () => {
  const silent = events
    .filter((message) => !covered.has(message))
    .flatMap(({ name, fields }) =>
      fields.filter((field) => isText(field) && !hasOption(field, option)).map(({ jsonName }) => `${name}.${jsonName}`),
    )
  expect(silent).toEqual([])
})

test('a part of a message is personal only where the whole is: no event has it in plain', () => {
  for (const { fields } of events)
    for (const field of fields)
      if (field.message && !isMarked(field)) expect(field.message.fields.filter(isMarked)).toEqual([])
})

test('personal fields are known by the type of the event, and an unknown event has none', () => {
  expect(personalFields('user', 'human.added')).toEqual(['userName', 'profile', 'email'])
  expect(personalFields('user.email.code', 'failed')).toEqual(['failure'])
  expect(personalFields('user', 'removed')).toEqual([])
  expect(personalFields('user', 'not.known')).toEqual([])
})

test('what is not published is known by the type of the event', () => {
  expect(unpublishedFields('authorization', 'granted')).toEqual(['rounds', 'admittedBy'])
  expect(unpublishedFields('user', 'human.added')).toEqual([])
})
