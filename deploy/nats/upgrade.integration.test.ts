import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'nats'
import { expect, onTestFinished, test } from 'vitest'
import { ensureConsumer, ensureStream } from '#lib/outbox/stream-keeper'
import { startTestKeeper } from '#test/support/keeper'
import { openHome } from '../local/home.ts'
import { startNats } from '../local/servers/nats-server.ts'
import type { NatsUser } from '../local/servers/nats-users.ts'
import { freePort } from '../local/ports.ts'

// As it was: one account, and in it everybody.
const before = `
  jetstream: enabled
  accounts {
    ROSTER {
      jetstream: enabled
      users: [
        { user: users, password: $ROSTER_NATS_PASSWORD_USERS }
        { user: grants, password: $ROSTER_NATS_PASSWORD_GRANTS }
        { user: notifier, password: $ROSTER_NATS_PASSWORD_NOTIFIER }
        { user: admin, password: $ROSTER_NATS_PASSWORD_ADMIN }
      ]
    }
  }
`

test('what NATS holds from before the accounts it holds on: the stream, who has read how far, and what came already', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'roster-upgrade-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const home = openHome(folder)
  const config = join(folder, 'before.conf')
  writeFileSync(config, before)
  const publishes = async (users: Connection) => {
    const subject = 'roster.events.users.acme.user.u.email.code.requested'
    return users.jetstream().publish(subject, 'an event', { msgID: 'users-1' })
  }

  const old = await startNats(home, { port: await freePort(0), say: () => {}, config })
  const admin = await (await open(old.urls, 'admin')).jetstreamManager()
  const { created } = await ensureStream(admin)
  await ensureConsumer(admin, 'notifier', 'roster.events.users.*.user.*.email.code.requested')
  // Grants had one, too. It follows users' own list of events now.
  await ensureConsumer(admin, 'grants', 'roster.events.users.*.user.*.removed')
  await publishes(await open(old.urls, 'users'))
  const reader = await (await open(old.urls, 'notifier')).jetstream().consumers.get('roster-events', 'notifier')
  await (await reader.next({ expires: 2000 }))!.ackAck()
  await old.server.stop()

  const { urls, server } = await startNats(home, { port: await freePort(0), say: () => {} })
  onTestFinished(() => server.stop())
  const keeper = await startTestKeeper(urls)
  onTestFinished(() => keeper.stop())
  const users = await open(urls, 'users')
  expect(await publishes(users)).toMatchObject({ seq: 1, duplicate: true })
  const state = await users.request('roster.stream.state', '', { timeout: 5000 })
  expect(state.json()).toMatchObject({ created, first: 1, last: 1 })
  const { consumers } = (await open(urls, 'notifier')).jetstream({ apiPrefix: 'ROSTER.API' })
  const { ack_floor: read, num_pending: waiting } = await (await consumers.get('roster-events', 'notifier')).info()
  expect([read.stream_seq, waiting]).toEqual([1, 0])
  // The consumer of grants stays, holds up nothing, and no service can ask it.
  const grants = (await open(urls, 'grants')).jetstream({ apiPrefix: 'ROSTER.API' })
  await expect(grants.consumers.get('roster-events', 'grants')).rejects.toThrow('503')
})

type Connection = Awaited<ReturnType<typeof open>>

async function open(urls: Record<NatsUser, string>, user: NatsUser) {
  const { host, username, password } = new URL(urls[user])
  const options = { inboxPrefix: `_INBOX_${user}`, reconnect: false }
  const connection = await connect({ servers: host, user: username, pass: password, ...options })
  onTestFinished(() => connection.close())
  return connection
}
