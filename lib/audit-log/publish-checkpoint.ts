import { messageId } from '../outbox/publish.ts'
import { type Publisher, store } from '../outbox/into-stream.ts'
import { checkpointSubject } from '../events/checkpoint-subject.ts'
import { instance } from '../instance.ts'

/** The type of the message. It is no event of the log, so neither feeds nor webhooks have it. */
export const checkpointType = 'roster.audit.checkpoint.signed.v1'

/** The id of a checkpoint, as consumers see it. */
export function checkpointId(service: string, number: number): string {
  return `${service}-checkpoint-${number}`
}

/** Where and how a service publishes. */
export interface PublishCheckpointOptions {
  service: string
  /** As in `PublishOptions`. */
  key: string
  generation: number
}

/** Publishes a signed checkpoint to the stream, as a CloudEvent of its own type. */
export async function publishCheckpoint(
  nats: Publisher,
  { service, key, generation }: PublishCheckpointOptions,
  { number, jws, signedAt }: { number: number; jws: string; signedAt: Date },
): Promise<void> {
  const id = checkpointId(service, number)
  const head =
    `ce-specversion: 1.0\r\nce-id: ${id}\r\nce-source: /roster/${service}\r\nce-type: ${checkpointType}\r\n` +
    `ce-subject: audit/${service}\r\nce-time: ${signedAt.toISOString()}\r\n` +
    `ce-datacontenttype: application/json\r\nce-sequence: ${number}\r\nce-organization: ${instance.id}\r\n`
  await store(nats, {
    id: messageId(key, id, generation),
    subject: checkpointSubject(service),
    head,
    data: JSON.stringify({ service, number, jws }),
  })
}
