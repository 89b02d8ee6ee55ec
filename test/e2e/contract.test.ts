import { describe, expect, test } from 'vitest'
import { method, methods } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import { contract, enums, fields, streams } from '../examples/contract.ts'

describe('proto/ matches spec/contract.md', () => {
  test.each(Object.entries(contract))('%s: service, verb and path', (name, [service, http]) => {
    const { path, http: declared } = method(`${service}.${name}`)
    expect(path).toBe(`/${service}/${name}`)
    expect(`${declared?.verb} ${declared?.template}`).toBe(http)
  })

  test.each(Object.entries(streams))('%s: a stream of the service, without a path', (name, service) => {
    expect(method(`${service}.${name}`)).toMatchObject({ path: `/${service}/${name}`, http: undefined, streams: true })
  })

  test('these services offer nothing outside the contract', () => {
    const offered = [...methods.values()]
      .filter(({ access }) => access.rule !== 'internal')
      .map(({ desc }) => desc.name)
    expect(offered.toSorted()).toEqual([...Object.keys(contract), ...Object.keys(streams)].toSorted())
  })

  test.each(Object.entries(fields))('%s: field names, numbers and presence', (typeName, promised) => {
    const declared = registry
      .getMessage(typeName)!
      .fields.map(({ name, number, proto }) => `${name} ${number}${proto.proto3Optional ? ' ?' : ''}`)
    expect(declared.join(', ')).toBe(promised)
  })

  test.each(Object.entries(enums))('%s: values', (typeName, promised) => {
    expect(registry.getEnum(typeName)!.values.map(({ name, number }) => [number, name])).toEqual([
      ...promised.entries(),
    ])
  })

  test('only UpdateIDP is deprecated', () => {
    const deprecated = [...methods.values()].filter(({ desc }) => desc.deprecated).map(({ desc }) => desc.name)
    expect(deprecated).toEqual(['UpdateIDP'])
  })
})
