import { AckPolicy, connect, DeliverPolicy, type NatsConnection } from 'nats'

/**
 * Adds a consumer of the events of one organization, from the first that the stream holds. The reader of
 * `organization-<id>` cannot change any of these settings.
 */
export async function addOrganizationConsumer(connection: NatsConnection, organizationId: string): Promise<void> {
  // In the filter, a wildcard or a dot would be other organizations.
  if (!/^[\w-]+$/.test(organizationId)) throw new Error(`${organizationId} is no id of an organization.`)
  const manager = await connection.jetstreamManager()
  await manager.consumers.add('roster-events', {
    durable_name: `organization-${organizationId}`,
    filter_subject: `roster.events.*.${organizationId}.>`,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
  })
}

// Where the consumer is there, nothing changes: run it again after NATS has lost its store.
if (import.meta.main) {
  const [, , organizationId = ''] = process.argv
  const url = new URL(process.env['NATS_URL'] ?? '')
  const connection = await connect({
    servers: url.host,
    user: decodeURIComponent(url.username),
    pass: decodeURIComponent(url.password),
  })
  await addOrganizationConsumer(connection, organizationId)
  await connection.close()
}
