import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { admin, newHuman, newMachine, newMember, newOrganization, ok } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { call as json } from '../clients/encodings.ts'
import { type OpenStream, streamingOver, type StreamOptions } from '../clients/streams.ts'

const { house } = inject('roster')
let home: string
let abroad: string
let viewer: { token: string; organization: string }

beforeAll(async () => {
  ;[home, abroad] = [await newOrganization(), await newOrganization()]
  viewer = { token: (await newMember(home, ['ORG_OWNER_VIEWER'])).token, organization: home }
  await newProject(home, ['reader'])
  for (let n = 0; n < 5; n++) await newMachine(home)
})

const eventsOf = ({ messages }: OpenStream) => messages.flatMap(({ events }): any[] => events ?? [])
const idsOf = (events: any[]) => events.map(({ id }) => id as string)
const subjectsOf = (stream: OpenStream) => eventsOf(stream).map(({ aggregateId }) => aggregateId as string)
const reasonOf = (status: Awaited<OpenStream['ended']>) => status?.details[0]?.['reason']

/** The present events of `home`, and the cursor behind them. */
async function past() {
  const page = ok(await json('SearchOrganizationEvents', { limit: 1000 }, viewer))
  return { ids: idsOf(page.events), cursor: page.cursor as string }
}

describe.each(streamingOver('grpc-web'))('a stream of events over $encoding', ({ open }) => {
  const watch = (request = {}, options: StreamOptions = viewer) => open('WatchOrganizationEvents', request, options)

  test('brings the past events in order and then each new one at once, only of this organization', async () => {
    const { ids } = await past()
    const stream = watch({ limit: 3 })
    await vi.waitFor(() => expect(idsOf(eventsOf(stream))).toEqual(ids), { timeout: 5000 })
    for (const { events } of stream.messages) expect((events ?? []).length).toBeLessThanOrEqual(3)
    await newMachine(abroad)
    const [first, second] = [await newMachine(home), await newMachine(home)]
    const written = performance.now()
    await vi.waitFor(() => expect(subjectsOf(stream).slice(ids.length)).toEqual([first, second]), { interval: 5 })
    expect(performance.now() - written).toBeLessThan(1000)
    for (const { organizationId } of eventsOf(stream)) expect(organizationId).toBe(home)
    stream.cancel()
    await stream.ended
  })

  test('of the whole instance brings those of every organization', async () => {
    const stream = open('WatchEvents', { fromEnd: true, filter: { eventTypes: ['user.machine.*'] } }, admin())
    await vi.waitFor(() => expect(stream.messages).not.toEqual([]), { timeout: 5000 })
    const machines = [await newMachine(home), await newMachine(abroad)]
    await newHuman(home)
    await vi.waitFor(() => expect(subjectsOf(stream)).toEqual(expect.arrayContaining(machines)), { timeout: 5000 })
    for (const { type } of eventsOf(stream)) expect(type).toBe('roster.user.machine.added.v1')
    stream.cancel()
  })

  test('begins at the cursor of another answer or of a search, without a gap', async () => {
    const { cursor } = await past()
    const missed = await newMachine(home)
    const stream = watch({ cursor })
    await vi.waitFor(() => expect(subjectsOf(stream)).toEqual([missed]), { timeout: 5000 })
    stream.cancel()
    const next = await newMachine(home)
    const resumed = watch({ cursor: stream.messages.at(-1).cursor })
    await vi.waitFor(() => expect(subjectsOf(resumed)).toEqual([next]), { timeout: 5000 })
    resumed.cancel()
  })

  test('is refused to a caller without the permission, and for an impossible request', async () => {
    const { token } = await newMember(home, ['ORG_USER_MANAGER'])
    const ends = async (stream: OpenStream) => reasonOf(await stream.ended)
    expect(await ends(watch({}, { token, organization: home }))).toBe('PERMISSION_DENIED')
    expect(await ends(watch({}, { token: viewer.token, organization: abroad }))).toBe('PERMISSION_DENIED')
    expect(await ends(open('WatchEvents', {}, viewer))).toBe('PERMISSION_DENIED')
    expect(await ends(watch({}, {}))).toBe('TOKEN_MISSING')
    expect(await ends(watch({ cursor: 'x' }))).toBe('CURSOR_INVALID')
    expect(await ends(watch({ limit: 1001 }))).toBe('VALIDATION_FAILED')
  })

  test('ends with its deadline', async () => {
    const { cursor } = await past()
    const stream = watch({ cursor }, { ...viewer, timeout: 700 })
    const started = performance.now()
    expect(await stream.ended).toMatchObject({ code: 4 })
    expect(performance.now() - started).toBeGreaterThan(500)
  })

  test('ends when the session ends, and brings no further event', async () => {
    const member = await newMember(home, ['ORG_OWNER_VIEWER'])
    const { sessionId, sessionToken } = await (async () =>
      ok(await json('CreateSession', { loginName: member.userName, password: member.password })))()
    const stream = watch({ fromEnd: true }, { token: sessionToken, organization: home })
    await vi.waitFor(() => expect(stream.messages).not.toEqual([]), { timeout: 5000 })
    ok(await json('DeleteSession', { sessionId }, { token: sessionToken }))
    const ended = performance.now()
    await newMachine(home)
    expect(await stream.ended).toMatchObject({ code: 16 })
    expect(performance.now() - ended).toBeLessThan(5000)
    // The event of the session's own end may have come in time.
    for (const { type } of eventsOf(stream)) expect(type).toMatch(/^roster\.session\./)
  })

  test('that the client leaves makes one line in the log, with the number of messages', async () => {
    const requestId = randomUUID()
    const stream = watch({ fromEnd: true }, { ...viewer, headers: { 'x-request-id': requestId } })
    await vi.waitFor(() => expect(stream.messages).toHaveLength(1), { timeout: 5000 })
    stream.cancel()
    expect(await stream.ended).toBeUndefined()
    if (!house) return
    const lines = async () =>
      (await readFile(house.logFile, 'utf8'))
        .split('\n')
        .filter((line) => line.includes(requestId) && line.includes('"msg":"call"'))
        .map((line) => JSON.parse(line) as object)
    await vi.waitFor(
      async () => expect(await lines()).toEqual([expect.objectContaining({ reason: 'CANCELLED', messages: 1 })]),
      { timeout: 5000 },
    )
  })
})
