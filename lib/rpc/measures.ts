import { codes } from '../errors.ts'
import { counter, gauge, histogram, measures } from '../telemetry/instruments.ts'
import { nameOf } from './spans.ts'

/** The encodings of calls, and what OpenTelemetry calls the systems behind them. */
const systems = {
  json: 'http',
  oauth: 'http',
  page: 'http',
  grpc: 'grpc',
  'grpc-web': 'grpc',
  connect: 'connectrpc',
  nats: 'nats',
}
type Encoding = keyof typeof systems

const statuses = ['OK', ...Object.keys(codes)]

const calls = histogram({
  name: 'rpc.server.call.duration',
  unit: 's',
  description:
    'how long calls took; its count gives their rate, and by status their errors. In a service: requests by NATS',
  labels: { 'rpc.method': 'operation', 'roster.encoding': Object.keys(systems), 'rpc.status_code': statuses },
  show: (labels) => ({
    ...labels,
    'rpc.method': nameOf(labels['rpc.method']!),
    'rpc.system.name': systems[labels['roster.encoding'] as Encoding],
  }),
  bounds: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
})

const failures = counter({
  name: 'roster.failures',
  unit: '{call}',
  description: 'calls that ended as INTERNAL: a fault of Roster itself, or of its database. The log has the cause',
})

/** Measures a call of an operation, or a request to a service, that began at a time on the clock of `performance`. */
export function measureCall(subject: string, encoding: Encoding, began: number, code: number): void {
  if (!measures()) return
  calls.record((performance.now() - began) / 1000, subject, encoding, statuses[code])
  if (code === codes.INTERNAL) failures.add(1)
}

/** Requests that a service has taken and not answered. */
export const underWay = gauge({
  name: 'roster.requests.under_way',
  unit: '{request}',
  description: 'requests that the service has taken and not answered, with those that wait for events by design',
})

/** The age of the oldest of them, in seconds. */
export const oldest = gauge({
  name: 'roster.requests.oldest.age',
  unit: 's',
  description: 'how long the oldest of these requests has been under way',
})
