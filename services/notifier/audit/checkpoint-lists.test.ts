import { expect, test } from 'vitest'
import { makeAuditKey } from '#lib/audit-log/checkpoint'
import { shareKeys } from './checkpoint-lists.ts'

test('a key belongs to the service that was asked for it, whatever that one answers', async () => {
  const answering = (service: string) => {
    const answer = { checkpoints: [], keys: [{ ...makeAuditKey().key, service }] }
    return () => Promise.resolve(answer)
  }
  const keysOf = shareKeys({ users: answering(''), grants: answering('users'), idp: answering('idp') })
  const keys = await keysOf({ requestId: '', deadline: Date.now() + 10_000 })
  expect(keys.map(({ service }) => service)).toEqual(['users', 'grants', 'idp'])
})
