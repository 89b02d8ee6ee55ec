import { gauge } from '../telemetry/instruments.ts'
import { consumers } from './consumers.ts'

const names = Object.keys(consumers)

export const consumerPending = gauge({
  name: 'roster.consumer.pending',
  unit: '{message}',
  description: 'messages of JetStream that the consumer was not given yet',
  labels: { 'roster.consumer': names },
})

export const consumerUnacknowledged = gauge({
  name: 'roster.consumer.unacknowledged',
  unit: '{message}',
  description: 'messages that the consumer was given and has not acknowledged',
  labels: { 'roster.consumer': names },
})

export const streamBytes = gauge({
  name: 'roster.stream.size',
  unit: 'By',
  description: 'bytes of the event stream in JetStream',
})
