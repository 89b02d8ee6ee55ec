import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { ListUsersRequestSchema, ListUsersResponseSchema } from '@zitadel/proto/zitadel/management_pb.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { admin, newHuman, newOrganization } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { ways } from './send.ts'

describe('a list by offset', () => {
  const send = ways[0]![1]
  const list = async (query: { offset?: bigint; limit?: number; asc?: boolean }) => {
    const bytes = toBinary(ListUsersRequestSchema, create(ListUsersRequestSchema, { query, sortingColumn: 1 }))
    const sent = await send('/zitadel.management.v1.ManagementService/ListUsers', bytes, {
      authorization: `Bearer ${admin().token}`,
      'x-zitadel-orgid': crowd,
    })
    if (!sent.bytes) {
      const { code, reason, fields } = factsOf({ ok: undefined, error: sent.error, http: 0, headers: {} })
      return { code, reason, fields }
    }
    const { result, details } = fromBinary(ListUsersResponseSchema, sent.bytes)
    return { names: result.map(({ userName }) => userName), total: details?.totalResult }
  }
  const names = Array.from({ length: 7 }, (_, n) => `user-${n}`)
  let crowd: string

  beforeAll(async () => {
    crowd = await newOrganization()
    for (const userName of names) await newHuman(crowd, { userName })
  })

  test('gives the page, and the number of all', async () => {
    expect(await list({ asc: true })).toEqual({ names, total: 7n })
    expect(await list({ asc: true, offset: 3n, limit: 2 })).toEqual({ names: ['user-3', 'user-4'], total: 7n })
    expect(await list({ offset: 5n, limit: 1000 })).toEqual({ names: ['user-1', 'user-0'], total: 7n })
    expect(await list({ asc: true, offset: 7n })).toEqual({ names: [], total: 7n })
  })

  test('skips 10,000 objects and gives 1,000 at most', async () => {
    expect(await list({ offset: 10_000n, limit: 1000 })).toEqual({ names: [], total: 7n })
    const tooFar = { offset: 2n ** 64n - 1n, limit: 4_000_000_000 }
    expect(await list(tooFar)).toEqual({
      code: 3,
      reason: 'VALIDATION_FAILED',
      fields: ['query.offset', 'query.limit'],
    })
  })
})
