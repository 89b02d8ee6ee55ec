import { type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { registry } from '#lib/registry'
import { type EventMessage, messageOf } from '#lib/events/messages'
import { documentEvents } from './event-document.ts'
import { expectPart } from './expect-part.ts'

/** The events of a service, by the type of their aggregate. */
type Events = Record<string, { type: string; payload: object }>

/** `ProjectRoleAdded` for `project.role.added`, as `namesOf` makes it. */
type MessageName<Type extends string> = Type extends `${infer Start}.${infer End}`
  ? `${MessageName<Start>}${MessageName<End>}`
  : Type extends `${infer Start}_${infer End}`
    ? `${Capitalize<Start>}${MessageName<End>}`
    : Capitalize<Type>

/** A payload or a message as JSON, with each optional field. */
type Json<T> = T extends string | Date
  ? string
  : T extends number
    ? number
    : T extends boolean
      ? boolean
      : T extends readonly (infer Item)[]
        ? Json<Item>[]
        : { [Field in keyof T]-?: Json<Exclude<T[Field], undefined>> }

type Same<A, B> = [A, B] extends [B, A] ? true : false

type IsDescribed<Payload, Message> = Message extends { encode(message: infer Content, ...rest: never): unknown }
  ? Same<Json<Payload>, Json<Content>>
  : false

/** The names of messages that are missing, or have other fields than their event. */
type Wrong<All extends Events, Messages> = {
  [Aggregate in keyof All & string]: All[Aggregate] extends infer Event
    ? Event extends { type: infer Type extends string; payload: infer Payload }
      ? MessageName<`${Aggregate}.${Type}`> extends infer Name
        ? true extends IsDescribed<Payload, Messages[Name & keyof Messages]>
          ? never
          : Name
        : never
      : never
    : never
}[keyof All & string]

/** The names of messages that belong to no event. */
type Unused<All extends Events, Messages, Part> = Exclude<
  keyof Messages,
  | Part
  | { [Aggregate in keyof All & string]: MessageName<`${Aggregate}.${All[Aggregate]['type']}`> }[keyof All & string]
>

/** The types of the aggregates. Where messages differ, their names stand instead, and nothing compiles. */
type Aggregates<All extends Events, Differ> = [Differ] extends [never] ? (keyof All & string)[] : { differ: Differ }

/**
 * Compares the events of a service with its messages, those of `proto/roster/events/v1/<service>.proto`, when it is
 * compiled. `Part` are the messages that are fields of others.
 */
export function testEvents<All extends Events, Messages, Part extends keyof Messages = never>(
  service: string,
  aggregates: Aggregates<All, Wrong<All, Messages> | Unused<All, Messages, Part>>,
): void {
  const file = [...registry.files].find(({ name }) => name === `roster/events/v1/${service}`)!
  const parts = new Set(file.messages.flatMap(partsOf))
  const events = file.messages
    .filter((message) => !parts.has(message))
    .map((message) => eventOf(message, aggregates as string[]))

  // JSON writes those as texts, and the store as numbers.
  test('no field has 64 bits', () => {
    const wide = [ScalarType.INT64, ScalarType.UINT64, ScalarType.BYTES]
    const fields = file.messages.flatMap((message) => message.fields)
    expect(fields.filter(({ scalar }) => scalar !== undefined && wide.includes(scalar))).toEqual([])
  })

  testDocument(service, events)
}

/** Compares a service's part of docs/events.md with proto/. */
export function testDocument(service: string, events: EventMessage[]): void {
  test('docs/events.md matches proto/', () => expectPart('events.md', service, documentEvents(events)))
}

// The longest aggregate type wins: `ProjectGrantAdded` belongs to a `project_grant`, not to a `project`.
function eventOf(desc: DescMessage, aggregates: string[]): EventMessage {
  const dotted = desc.name.replaceAll(/(?<!^)(?=[A-Z])/g, '.').toLowerCase()
  const isStart = (aggregate: string) => dotted.startsWith(`${aggregate.replaceAll('_', '.')}.`)
  const aggregate = aggregates.filter(isStart).toSorted((one, other) => other.length - one.length)[0]!
  const event = messageOf(aggregate, dotted.slice(aggregate.length + 1))
  expect(event.desc).toBe(desc)
  return event
}

function partsOf(desc: DescMessage): DescMessage[] {
  return desc.fields.flatMap(({ message }) => (message ? [message, ...partsOf(message)] : []))
}
