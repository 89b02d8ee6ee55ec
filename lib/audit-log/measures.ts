import { gauge } from '../telemetry/instruments.ts'

export const checkpointInterval = gauge({
  name: 'roster.audit.checkpoint.interval',
  unit: 's',
  description: 'the time between two checkpoints of the audit chain, at the least: CHECKPOINT_INTERVAL',
})
