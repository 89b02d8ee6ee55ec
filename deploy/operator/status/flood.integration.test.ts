import { headers } from 'nats'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectNats } from '#lib/nats'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'
import { silent } from '#test/support/rpc'

let house: AuditedHouse

beforeAll(async () => {
  house = await startAuditedHouse()
}, 120_000)
afterAll(() => house?.stop())

const megabytes = 128

test('a service that answers with more than anybody reads takes no memory, and fills no screen', async () => {
  const { connection } = await connectNats(house.servers.natsUrl.idp, 'idp', silent)
  const answers = (host: string) => JSON.stringify({ id: 'x', version: '0.0.0', metadata: { host } })
  try {
    for (const subject of ['$SRV.INFO.idp', '$SRV.STATS.idp'])
      connection.subscribe(subject, {
        callback: (_error, message) => {
          message.respond(answers('x'.repeat(1_900_000)))
          message.respond(answers(`y${' '.repeat(300)}users  0.3.0  forged`))
          message.respond(answers('z'.repeat(10_000)))
          for (let number = 0; number < 5000; number++) message.respond(answers(`host-${number}`))
        },
      })
    await connection.flush()
    const { status, out } = await house.rosterWithin(megabytes, 'status')
    expect(status).toBe(1)
    expect(out).toContain('! idp: gave more than 100 answers about its replicas')
    expect(out).toMatch(/^! idp: \d+ answers about its replicas cannot be read$/m)
    expect(out).toContain('! services: tells more than anybody reads, and the rest is not shown')
    expect(out).toMatch(/^idp +0\.0\.0 +z{199}… +0 +0$/m)
    expect(out).not.toContain('forged')
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThan(300)
    const [{ services }] = (await house.rosterWithin(megabytes, 'status', '--json')).json()
    expect(services.idp).toHaveLength(99)
  } finally {
    await connection.close()
  }
})

test.each([
  ['one', '', 'idp: no replica answers'],
  ['such with a text', 'x', 'idp: 6 answers about its replicas cannot be read'],
])('answers that nobody listens hide no other service: %s', async (_, data, told) => {
  const { connection } = await connectNats(house.servers.natsUrl.idp, 'idp', silent)
  const absent = headers(503, 'No Responders')
  try {
    for (const subject of ['$SRV.INFO.idp', '$SRV.STATS.idp'])
      connection.subscribe(subject, {
        callback: (_error, message) => {
          for (let number = 0; number < 3; number++) message.respond(data, { headers: absent })
        },
      })
    await connection.flush()
    const { attention } = (await house.roster('status', '--json')).json()[0]
    expect(attention).toEqual(expect.arrayContaining([told, 'users: no replica answers']))
  } finally {
    await connection.close()
  }
})

test('of long ids and of reasons why nothing can be read, only a beginning is told', async () => {
  const { admin, roster } = house
  await admin`
    insert into roster_users.aggregates (type, id, organization_id, sequence, created_at, changed_at, state)
    select 'user', repeat('i', 5000), 'many', 1, now(), now(), jsonb_build_object('$sealed', 'x')
  `
  try {
    const [{ keys, attention }] = (await roster('status', '--json')).json()
    expect(keys).toMatchObject({ lost: 1, users: [`${'i'.repeat(199)}…`] })
    expect(attention).toContain('users: tells more than anybody reads, and the rest is not shown')
  } finally {
    await admin`delete from roster_users.aggregates where organization_id = 'many'`
  }
})
