import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import { unpublishedFields } from '#lib/events/marked-fields'
import { inSeconds, newSignedInMachine } from '../../examples/machines.ts'
import { admin, newHuman, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { call } from '../clients/encodings.ts'

// A client of JetStream that lost a message of its pull begins another one after 30 s.
const soon = { timeout: 70_000, interval: 200 }
const { house } = inject('roster')
const root = join(import.meta.dirname, '../../..')
const services = ['users', 'grants', 'idp', 'notifier']

interface Row {
  id: string
  aggregate: string
  sequence: string
  payload: object
  /** Its user was removed, so it leaves the stream. */
  leaves: boolean
}

describe.skipIf(!house)(`the stream of events${house ? '' : ' (a Roster by URL shows no database)'}`, () => {
  // This body runs even where the tests are skipped. The client connects only at the first statement.
  const sql = postgres(house?.databaseUrl ?? 'postgres://nowhere', { max: 1, onnotice: () => {} })
  afterAll(() => sql.end())

  async function stored(): Promise<Row[]> {
    const rows = services.map(
      (service) => sql<Row[]>`
        select ${service} || '-' || position as id, aggregate_type || '/' || aggregate_id as aggregate, sequence, payload,
          ${service} = 'users' and aggregate_type like 'user%' and type <> 'removed' and aggregate_id in (
            select aggregate_id from roster_users.events where aggregate_type = 'user' and type = 'removed'
          ) as leaves
        from ${sql(`roster_${service}`)}.events
      `,
    )
    return (await Promise.all(rows)).flat()
  }

  test('gives the consumer of docs/events.md exactly the written events, in order', { timeout: 300_000 }, async () => {
    await writeSomething()
    const expected = await stored()
    const seen = await runConsumer()
    // Other tests remove users meanwhile, whose events leave the stream before they are read.
    const gone = async () => (await stored()).filter(({ leaves }) => leaves)
    const missing = async () => {
      const known = new Set([...seen.map((event) => event['ce-id']), ...(await gone()).map(({ id }) => id)])
      return expected.flatMap(({ id, aggregate }) => (known.has(id) ? [] : [`${id} of ${aggregate}`]))
    }
    // The other tests of the run have written thousands of events before. On a busy machine they take their time, so what
    // counts is that they keep coming.
    for (let left = await missing(); left.length > 0;)
      await vi.waitFor(async () => {
        const now = await missing()
        expect(now.length, now.slice(0, 10).join(', ')).toBeLessThan(left.length)
        left = now
      }, soon)

    const last = new Map<string, number>()
    const read = [...seen]
    const left = await gone()
    const [removed, leaving] = [new Set(left.map(({ aggregate }) => aggregate)), new Set(left.map(({ id }) => id))]
    const written = new Set((await stored()).map(({ id }) => id))
    for (const event of read) {
      // application-copies.test.ts deletes some by hand, as if users had never followed grants.
      if (String(event['ce-subject']).startsWith('user_closure/') && !written.has(event['ce-id'] as string)) continue
      const [subject, sequence] = [event['ce-subject'] as string, Number(event['ce-sequence'])]
      const next = (last.get(subject) ?? 0) + 1
      if (removed.has(subject)) expect(sequence).toBeGreaterThanOrEqual(next)
      else expect(sequence).toBe(next)
      last.set(subject, sequence)
    }
    const byId = new Map(read.map((event) => [event['ce-id'], event]))
    for (const { id, aggregate, sequence, payload } of expected) {
      const leaves = leaving.has(id)
      const event = byId.get(id)
      if (leaves && !event) continue
      expect(event).toMatchObject({ 'ce-subject': aggregate, 'ce-sequence': sequence })
      // What is personal is stored encrypted, and shown decrypted.
      const { $sealed: sealed, ...plain } = payload as Record<string, unknown>
      const aggregateType = aggregate.split('/')[0]!
      const type = (event!['ce-type'] as string).slice(`roster.${aggregateType}.`.length, -'.v1'.length)
      for (const name of unpublishedFields(aggregateType, type)) delete plain[name]
      const data = event!['data'] as Record<string, unknown>
      // A list that is not stored is shown empty.
      const isShown = (name: string) => name in plain || !(Array.isArray(data[name]) && data[name].length === 0)
      const shown = Object.keys(data).filter(isShown)
      expect(shown).toEqual(expect.arrayContaining(Object.keys(plain)))
      expect(shown).not.toContain('$sealed')
      if (sealed === undefined) expect(shown).toHaveLength(Object.keys(plain).length)
      else if (!leaves) expect(shown.length).toBeGreaterThan(Object.keys(plain).length)
    }
  })
})

/** Writes to each service. */
async function writeSomething() {
  const organization = await newOrganization()
  const { userId } = await newHuman(organization, { verification: { returnCode: {} } })
  ok(await call('SetEmail', { userId, email: uniqueEmail(), sendCode: {} }, admin(organization)))
  ok(await call('AddMachineUser', { userName: unique('machine'), name: 'Machine' }, admin(organization)))
  const { userId: machineId, tokenId } = await newSignedInMachine(organization)
  ok(await call('AddMachineKey', { userId: machineId, expirationDate: inSeconds(60) }, admin()))
  ok(await call('RemovePersonalAccessToken', { userId: machineId, tokenId }, admin()))
  await newProject(organization)
}

/** Runs the program of docs/events.md as a process of its own. Returns its output, which grows. */
async function runConsumer(): Promise<Record<string, unknown>[]> {
  const document = await readFile(join(root, 'docs/events.md'), 'utf8')
  const [, lines] = /```js\n(.*?)```/s.exec(document)!
  expect(lines!.trim().split('\n')).toHaveLength(10)
  const folder = await mkdtemp(join(tmpdir(), 'roster-consumer-'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'consumer.mjs'), lines!)
  const consumer = spawn(process.execPath, [join(folder, 'consumer.mjs')], {
    env: { ...process.env, NATS_URL: house!.natsUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(async () => {
    const gone = once(consumer, 'exit')
    if (consumer.kill()) await gone
    await rm(folder, { recursive: true })
  })
  const seen: Record<string, unknown>[] = []
  // Not `readline`: it also ends a line at characters such as U+2028.
  let rest = ''
  consumer.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    seen.push(...lines.map((line) => JSON.parse(line) as Record<string, unknown>))
  })
  return seen
}
