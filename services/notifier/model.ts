import { evolveHistory } from '#lib/eventstore/history'
import type { Vocabulary } from '#lib/eventstore/vocabulary'
import { evolveStatus } from '../organization-status.ts'
import { organizationType } from './organizations.ts'
import { project } from './projections.ts'
import { evolveWebhook } from './vocabulary.ts'

/** The service's knowledge of its aggregates. */
export const model: Vocabulary = {
  evolve: { webhook: evolveWebhook, [organizationType]: evolveStatus, history: evolveHistory },
  project,
  projections: [
    { table: 'webhooks', type: 'webhook', key: ['webhook_id'], without: ['quick', 'timeouts', 'retry_at'] },
  ],
  watched: [
    { table: 'cursors' },
    { table: 'chains', columns: ['webhook_id', 'due_at'] },
    { table: 'turns', columns: ['organization_id', 'turn_at'] },
    { table: 'deliveries', columns: ['kind', 'state', 'queued_at', 'aggregate', 'payload'] },
  ],
}
