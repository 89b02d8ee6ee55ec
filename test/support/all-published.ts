import { connect } from 'nats'
import { expect, vi } from 'vitest'
import { natsServers } from '#lib/nats/connect-nats'
import { streamName } from '#lib/events/stream'
import { subjectOf } from '#lib/outbox/publish'
import { storingServices } from '../../deploy/provision.ts'
import type { OperatedHouse } from './operated-house.ts'

/** Waits until the stream has every event: they come in their order, so the last one of each service tells. */
export async function allPublished({ admin, servers }: OperatedHouse): Promise<void> {
  const connection = await connect({ ...natsServers(servers.natsUrl.operator), inboxPrefix: '_INBOX_operator' })
  const { streams } = await connection.jetstreamManager({ apiPrefix: 'ROSTER.API', checkAPI: false })
  for (const service of storingServices) {
    const [row] = await admin`
      select position, aggregate_type, aggregate_id, type, organization_id from ${admin(`roster_${service}`)}.events
      order by transaction_id desc, position desc limit 1
    `
    if (!row) continue
    const last = () => streams.getMessage(streamName, { last_by_subj: subjectOf(service, row as never) })
    const isThere = async () => expect((await last()).header.get('ce-id')).toBe(`${service}-${row['position']}`)
    await vi.waitFor(isThere, { timeout: 120_000, interval: 50 })
  }
  await connection.close()
}
