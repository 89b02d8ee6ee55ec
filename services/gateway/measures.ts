import { counter, gauge, histogram } from '#lib/telemetry/instruments'

export const requests = histogram({
  name: 'http.server.request.duration',
  unit: 's',
  description:
    'how long other requests of the gateway took: pages, probes, documents, and paths where nothing is (_OTHER)',
  labels: {
    'http.request.method': ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    'http.route': 'page',
    'http.response.status_code': 'status',
  },
  bounds: [0.005, 0.025, 0.1, 0.5, 2.5, 10],
})

export const brokenRequests = counter({
  name: 'roster.gateway.broken_requests',
  unit: '{request}',
  description: 'requests that never arrived: they are no HTTP, their head is too long, or it comes too slowly',
  labels: { 'roster.reason': ['HTTP_MALFORMED', 'HEADERS_TOO_LARGE', 'REQUEST_TIMEOUT'] },
})

export const connections = gauge({
  name: 'roster.gateway.connections',
  unit: '{connection}',
  description: 'open connections of clients',
})

export const streams = gauge({
  name: 'roster.gateway.streams',
  unit: '{stream}',
  description: 'open streams of events',
})

export const bytesUnderWay = gauge({
  name: 'roster.gateway.bytes_under_way',
  unit: 'By',
  description: 'bytes of requests and answers in memory; UNDER_WAY_BYTES is the limit',
})

export const ready = gauge({
  name: 'roster.gateway.ready',
  unit: '1',
  description: '1 while /readyz says that calls can be answered',
})

export const answers = gauge({
  name: 'roster.service.answers',
  unit: '1',
  description: '1 while any process of the service answers this gateway by NATS',
  labels: { 'roster.service': 'service' },
})

export const certificateEnd = gauge({
  name: 'roster.tls.certificate.end',
  unit: 's',
  description: 'when the certificate of the port ends, as Unix time; only with TLS_CERT',
})

export const secondRequests = counter({
  name: 'roster.gateway.second_requests',
  unit: '{request}',
  description:
    'calls without an answer for two seconds: the service was asked once more, or was not, as one call in a hundred was already',
  labels: { 'roster.outcome': ['asked', 'spared'] },
})
