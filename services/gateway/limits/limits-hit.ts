import { counter } from '#lib/telemetry/instruments'

/** Requests and connections that a limit of the gateway refused. */
export const limitsHit = counter({
  name: 'roster.limit.hits',
  unit: '{request}',
  tells: 'requests that a limit of the gateway refused (connections: closed); those of services are RESOURCE_EXHAUSTED',
  labels: {
    'roster.limit': [
      'caller',
      'organization',
      'address',
      'streams.caller',
      'streams.organization',
      'bytes',
      'connections',
    ],
  },
})
