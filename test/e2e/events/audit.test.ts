import { beforeAll, describe, expect, test, vi } from 'vitest'
import { type AuditKey, isSigned, readCheckpoint } from '#lib/audit-log/checkpoint'
import { addEveryObject } from '../../examples/every-object.ts'
import { admin, ok } from '../../examples/people.ts'
import { over } from '../clients/encodings.ts'
import { callGrpc } from '../clients/grpc.ts'

// Each service signs something then.
beforeAll(() => addEveryObject(callGrpc, admin(), 'https://hooks.example.com/'))

interface Named {
  service: string
}

describe.each(over('json'))('checkpoints of the audit chains over $encoding', ({ call }) => {
  const list = async (service: string, request = {}) =>
    (ok(await call('ListAuditCheckpoints', { service, ...request }, admin())).checkpoints ?? []) as {
      number: number
      jws: string
    }[]

  test.each(['users', 'grants', 'idp', 'notifier'])(
    '%s: each is signed with a public key of that service, and names it',
    async (service) => {
      const [first] = await vi.waitFor(
        async () => {
          const found = await list(service, { limit: 1 })
          expect(found).toHaveLength(1)
          return found
        },
        { timeout: 20_000 },
      )
      const signed = readCheckpoint(first!.jws)
      expect(signed.checkpoint).toMatchObject({ service, number: 1, previous: '' })
      // The keys are shared for a minute: a key that was just made may come later.
      await vi.waitFor(
        async () => {
          const { keys } = ok(await call('ListAuditKeys', {}, {})) as unknown as { keys: (AuditKey & Named)[] }
          expect(
            isSigned(
              signed,
              keys.filter((key) => key.service === service),
            ),
          ).toBe(true)
          expect(
            isSigned(
              signed,
              keys.filter((key) => key.service !== service),
            ),
          ).toBe(false)
        },
        { timeout: 90_000, interval: 1000 },
      )
      const all = await list(service)
      expect(await list(service, { after: all.at(-1)!.number })).toEqual([])
    },
    120_000,
  )
})
