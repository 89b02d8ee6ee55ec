import { counter } from '../telemetry/instruments.ts'

export const published = counter({
  name: 'roster.events.published',
  unit: '{event}',
  description: 'events that this process brought to JetStream',
})
