import { describe, expect, test } from 'vitest'
import { chain, changedLine, exportOf, found, keys, lines, of, signed } from './testing/true-export.ts'

describe('a service', () => {
  test('cannot give a checkpoint that names another one, though its own key signs it', async () => {
    const { checkpoints } = chain('users')
    const told = { ...signed({ ...checkpoints[0]!, service: 'grants' }), service: 'users' }
    expect(await found(lines.map((line) => (line === of('checkpoint')[0] ? told : line)))).toContainEqual(
      'a checkpoint: its signature is not that of a given key',
    )
  })

  test('signs nothing for another one, whatever keys are given', async () => {
    const grants = chain('grants')
    const forged = exportOf(grants)
    const both = await found(forged)
    expect(both.filter((line) => line === 'a checkpoint: its signature is not that of a given key').length).toBe(2)
    expect(both).toContainEqual('page 1: no checkpoint signs it')
    const own = forged.map((line) => line['kind'] === 'checkpoint' ? signed(grants.checkpoints[Number(line === forged[8])]!, keys.grants) : line) // prettier-ignore
    expect(await found(own)).toEqual([])
    const kept = Object.entries(keys).map(([service, { key }]) => JSON.stringify({ kind: 'key', service, key }))
    expect(await found(forged, kept.join('\n'))).toEqual(both)
  })

  test('has its own pages alone', async () => {
    const some = lines.map((line) => (line['kind'] === 'page' ? { ...line, service: 'grants' } : line))
    expect(await found(some)).toContainEqual('a page: its header is none of this service')
    const event = of('event')[0]!
    expect(await found(changedLine(event, { service: 'grants' }))).toContainEqual(
      'event grants-1: its page does not have it',
    )
    const checkpoint = of('checkpoint')[0]!
    expect(await found(changedLine(checkpoint, { service: 'grants' }))).toContainEqual(
      'a checkpoint: its signature is not that of a given key',
    )
  })

  test.each([
    ['no service', { service: undefined }],
    ['an unknown one', { service: 'gateway' }],
  ])('a set of keys that names %s is refused', async (_, other) => {
    await expect(found(lines, JSON.stringify({ keys: [{ ...keys.users.key, ...other }] }))).rejects.toThrow(
      'names no service',
    )
  })

  test.each(['{"keys":[]}', '{"keys":{}}', 'null', '{"keys":[{"service":"users"}]}', '{"keys":[null]}'])(
    'a set of keys that is %s is refused',
    async (text) => {
      await expect(found(lines, text)).rejects.toThrow(/no public key|a public key is none|names no service/)
    },
  )
})
