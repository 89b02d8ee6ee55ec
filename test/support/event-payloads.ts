import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DescMessage, fromJson, type JsonValue, toJson } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { registry } from '#lib/registry'
import { messageOf } from '#lib/events/messages'
import { documentEvents } from './event-document.ts'

/** A payload with every optional field. */
type Full<T> = T extends readonly unknown[] | string | number | boolean
  ? T
  : { [K in keyof T]-?: Full<Exclude<T[K], undefined>> }

/** A payload for each type of event that can happen to an aggregate. A missing one does not compile. */
export type Payloads<Event extends { type: string; payload: object }> = {
  [Type in Event['type']]: Full<Extract<Event, { type: Type }>['payload']>
}

/**
 * Compares the payloads of a service, by aggregate type and event type, with `proto/roster/events/v1/<service>.proto`.
 */
export function testPayloads(service: string, payloads: Record<string, Record<string, object>>): void {
  const events = Object.entries(payloads).flatMap(([aggregateType, types]) =>
    Object.entries(types).map(([type, payload]) => ({ aggregateType, type, payload: payload as JsonValue })),
  )

  describe.each(events)('the payload of $type of a $aggregateType', ({ aggregateType, type, payload }) => {
    test('matches its message in proto/ exactly', () => {
      const { desc } = messageOf(aggregateType, type)
      const read = fromJson(desc, payload)
      expect(toJson(desc, read, { alwaysEmitImplicit: true, enumAsInteger: true })).toEqual(payload)
      expectFull(desc, payload)
    })
  })

  test('each event has its own message, and each message its own event', () => {
    const used = events.map(({ aggregateType, type }) => messageOf(aggregateType, type).desc)
    expect(new Set(used).size).toBe(used.length)
    const parts = new Set(used.flatMap(partsOf))
    const messages = [...registry.files].find(({ name }) => name === `roster/events/v1/${service}`)!.messages
    expect(messages.filter((message) => !parts.has(message)).map(({ name }) => name)).toEqual(
      messages.filter((message) => used.includes(message)).map(({ name }) => name),
    )
    expect(messages).toEqual(expect.arrayContaining(used))
  })

  // With `-u`, this writes the document again.
  test('docs/events.md matches proto/', async () => {
    const text = readFileSync(document, 'utf8')
    const [start, end] = [`<!-- ${service} -->\n`, `<!-- /${service} -->`]
    const [before, after] = [text.split(start)[0]!, text.split(end)[1]!]
    const documented = documentEvents(events.map(({ aggregateType, type }) => messageOf(aggregateType, type)))
    await expect(`${before}${start}\n${documented}\n\n${end}${after}`).toMatchFileSnapshot(document)
  })
}

const document = join(import.meta.dirname, '../../docs/events.md')

function expectFull(desc: DescMessage, value: JsonValue) {
  if (desc.typeName.startsWith('google.protobuf.')) return
  expect(Object.keys(value as object).sort()).toEqual(desc.fields.map(({ jsonName }) => jsonName).sort())
  for (const field of desc.fields)
    if (field.fieldKind === 'message') expectFull(field.message, (value as Record<string, JsonValue>)[field.jsonName]!)
}

function partsOf(desc: DescMessage): DescMessage[] {
  return desc.fields.flatMap(({ message }) => (message ? [message, ...partsOf(message)] : []))
}
