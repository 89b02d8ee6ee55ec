import type { JsonObject } from '@bufbuild/protobuf'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { RosterError } from '#lib/errors'
import { type OpenStream, streamingOver } from '../../../test/e2e/clients/streams.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

const subject = 'roster.notifier.v1.EventService.WatchOrganizationEvents'
let gateway: TestGateway
let opened: OpenStream[]

afterEach(() => gateway?.stop())

/** `home` has the callers h1, h2 and h3, `away` has a1. */
async function start(environment = {}, answer: (n: number) => Promise<JsonObject> = first) {
  opened = []
  const asked = new Map<string, number>()
  const operations = {
    [subject]: (_request: JsonObject, { requestId }: { requestId: string }) => {
      asked.set(requestId, (asked.get(requestId) ?? -1) + 1)
      return answer(asked.get(requestId)!)
    },
  }
  gateway = await startTestGateway(operations, {
    STREAMS_PER_CALLER: '2',
    STREAMS_PER_ORGANIZATION: '3',
    ...environment,
  })
  for (const [userId, organizationId] of [
    ['h1', 'home'],
    ['h2', 'home'],
    ['h3', 'home'],
    ['a1', 'away'],
  ] as const)
    gateway.backstage.callers.set(userId, {
      userId,
      organizationId,
      memberships: [{ organizationId, roles: ['ORG_OWNER'] }],
    })
}

const never = () => new Promise<never>(() => {})
const first = (n: number) => (n === 0 ? Promise.resolve({ cursor: 'c' }) : never())
const refusal = (limit: string) => ({
  code: 8,
  details: [{ reason: 'LIMIT_REACHED', metadata: { limit: `streams.${limit}` } }, { retryDelay: '5s' }],
})

describe.each(streamingOver('grpc'))('streams over $encoding', ({ open }) => {
  const begin = (token: string) => {
    const stream = open('WatchOrganizationEvents', {}, { token, url: gateway.url })
    opened.push(stream)
    return stream
  }
  const began = ({ messages }: OpenStream) =>
    vi.waitFor(() => expect(messages.length).toBeGreaterThan(0), { timeout: 20_000 })

  /** A stream that has its place: its first message has arrived. */
  async function hold(token: string): Promise<OpenStream> {
    const stream = begin(token)
    await began(stream)
    return stream
  }
  /** The gateway frees a place a moment after the client has gone. */
  async function eventuallyHold(token: string) {
    for (const until = Date.now() + 20_000; Date.now() < until;) {
      const stream = begin(token)
      const refused = await Promise.race([began(stream).then(() => false), stream.ended.then(() => true)])
      if (!refused) return
    }
    throw new Error('the place was not given back')
  }

  test('are refused to a caller or organization that has all its places, while others open theirs', async () => {
    await start()
    await hold('h1')
    await hold('h1')
    expect(await begin('h1').ended).toMatchObject(refusal('caller'))
    await hold('h2')
    expect(await begin('h2').ended).toMatchObject(refusal('organization'))
    expect(await begin('h3').ended).toMatchObject(refusal('organization'))
    expect(await begin('h1').ended).toMatchObject(refusal('caller'))
    await hold('a1')
    for (const stream of opened) stream.cancel()
  })

  test('give their place to the next once their client has gone', async () => {
    await start()
    for (let round = 0; round < 3; round++) {
      const [one, other] = [await hold('h1'), await hold('h1')]
      expect(await begin('h1').ended).toMatchObject(refusal('caller'))
      one.cancel()
      await eventuallyHold('h1')
      other.cancel()
      for (const stream of opened) stream.cancel()
      await vi.waitFor(() => expect(ends()).toBe(opened.length), { timeout: 20_000 })
    }
    await hold('h1')
    await hold('h1')
    for (const stream of opened) stream.cancel()
  })

  test('give their place to the next when they end by age or error, or before they begin', async () => {
    await start({ STREAM_MAX_AGE_MS: '300' }, (n) => {
      if (n === 0) return Promise.resolve({ cursor: 'c' })
      return opened.length % 2 === 0 ? never() : Promise.reject(new RosterError('NOT_FOUND', 'NOT_FOUND', 'Gone.'))
    })
    const codes: (number | undefined)[] = []
    for (let n = 0; n < 6; n++) codes.push((await (await hold('h1')).ended)?.code)
    expect(codes).toEqual([5, 14, 5, 14, 5, 14])
    const wrong = open('WatchOrganizationEvents', { limit: 1_000_000 }, { token: 'h1', url: gateway.url })
    expect(await wrong.ended).toBeDefined()
    await hold('h1')
    await hold('h1')
    await Promise.all(opened.map(({ ended }) => ended))
  })

  test('begin as often as the rate of reads allows', async () => {
    await start({ WRITES_PER_MEMBER: '1', STREAMS_PER_CALLER: '0', STREAMS_PER_ORGANIZATION: '0' }, () =>
      Promise.reject(new RosterError('NOT_FOUND', 'NOT_FOUND', 'Gone.')),
    )
    const endings = await Promise.all(Array.from({ length: 300 }, () => begin('h1').ended))
    const refused = endings.filter((status) => status?.code === 8)
    expect(refused.length).toBeGreaterThan(0)
    for (const { details } of refused as { details: object[] }[])
      expect(details[0]).toMatchObject({ reason: 'RATE_LIMITED', metadata: { limit: 'caller' } })
  })
})

function ends(): number {
  return gateway.log.filter(({ msg, messages }) => msg === 'call' && messages !== undefined).length
}
