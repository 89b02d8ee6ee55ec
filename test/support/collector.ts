import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'

/** A span as the collector received it. */
export interface ReceivedSpan {
  /** `service.name` of its resource. */
  service: string
  resource: Attributes
  traceId: string
  spanId: string
  /** Empty where it begins a trace. */
  parentId: string
  name: string
  kind: string
  attributes: Attributes
  /** The spans that it is linked to. */
  links: { traceId: string; spanId: string }[]
  failed: boolean
  /** Unix time in nanoseconds. */
  began: bigint
  ended: bigint
}

/** What a histogram had counted when it was sent. */
export interface ReceivedHistogram {
  /** `service.name` of its resource. */
  service: string
  name: string
  unit: string
  attributes: Attributes
  isCumulative: boolean
  count: number
  sum: number
  bounds: number[]
  counts: number[]
  /** Unix time in nanoseconds. */
  began: bigint
  ended: bigint
}

type Attributes = Record<string, unknown>

/** A real HTTP server that takes OTLP in protobuf. */
export interface TestCollector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string
  spans: ReceivedSpan[]
  /** The names of the metrics that came. */
  metrics: Set<string>
  histograms: ReceivedHistogram[]
  /** Every byte that came, for a search of what must not be there. */
  bytes(): Buffer
  stop(): Promise<void>
}

/** Listens on a free port of 127.0.0.1. */
export async function startTestCollector(): Promise<TestCollector> {
  const spans: ReceivedSpan[] = []
  const metrics = new Set<string>()
  const histograms: ReceivedHistogram[] = []
  const bodies: Buffer[] = []
  const server = createServer(async (request, response) => {
    const sent = await buffer(request)
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
    bodies.push(body)
    if (request.url === '/v1/traces') spans.push(...readSpans(body))
    if (request.url === '/v1/metrics') {
      for (const { metric } of readMetrics(body)) metrics.add(text(metric, 1))
      histograms.push(...readMetrics(body).flatMap(readHistograms))
    }
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    histograms,
    bytes: () => Buffer.concat(bodies),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

// The numbers are those of opentelemetry/proto: collector/*/v1, resource/v1, trace/v1, metrics/v1, common/v1.
function readSpans(request: Buffer): ReceivedSpan[] {
  return messages(request, 1).flatMap((ofResource) => {
    const resource = readAttributes(messages(messages(ofResource, 1)[0]!, 1))
    const spans = messages(ofResource, 2).flatMap((scope) => messages(scope, 2))
    return spans.map((span) => readSpan(span, resource))
  })
}

function readMetrics(request: Buffer) {
  return messages(request, 1).flatMap((ofResource) => {
    const service = readAttributes(messages(messages(ofResource, 1)[0]!, 1))['service.name'] as string
    const metrics = messages(ofResource, 2).flatMap((scope) => messages(scope, 2))
    return metrics.map((metric) => ({ service, metric }))
  })
}

function readHistograms({ service, metric }: { service: string; metric: Uint8Array }): ReceivedHistogram[] {
  return messages(metric, 9).flatMap((histogram) =>
    messages(histogram, 1).map((point) => {
      const fields = readFields(point)
      return {
        service,
        name: text(metric, 1),
        unit: text(metric, 3),
        attributes: readAttributes(messages(point, 9)),
        isCumulative: readFields(histogram).get(2)?.[0] === 2n,
        count: Number(fields.get(4)![0]),
        sum: toDouble(fields.get(5)![0] as bigint),
        bounds: readPacked(messages(point, 7)).map(toDouble),
        counts: readPacked(messages(point, 6)).map(Number),
        began: fields.get(2)![0] as bigint,
        ended: fields.get(3)![0] as bigint,
      }
    }),
  )
}

function readPacked(packed: Uint8Array[]): bigint[] {
  const bytes = Buffer.concat(packed)
  return Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readBigUInt64LE(8 * index))
}

function toDouble(bits: bigint): number {
  return new Float64Array(new BigUint64Array([bits]).buffer)[0]!
}

const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer']

function readSpan(span: Uint8Array, resource: Attributes): ReceivedSpan {
  const fields = readFields(span)
  return {
    service: resource['service.name'] as string,
    resource,
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    parentId: hex(span, 4),
    name: text(span, 5),
    kind: kinds[Number(fields.get(6)?.[0] ?? 0)]!,
    attributes: readAttributes(messages(span, 9)),
    links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
    failed: messages(span, 15).some((status) => readFields(status).get(3)?.[0] === 2n),
    began: fields.get(7)![0] as bigint,
    ended: fields.get(8)![0] as bigint,
  }
}

function readAttributes(pairs: Uint8Array[]): Attributes {
  return Object.fromEntries(pairs.map((pair) => [text(pair, 1), readValue(messages(pair, 2)[0]!)]))
}

function readValue(value: Uint8Array): unknown {
  const [[field, [first]]] = [...readFields(value)] as [[number, [unknown]]]
  if (field === 1) return Buffer.from(first as Uint8Array).toString()
  if (field === 2) return first === 1n
  if (field === 4) return toDouble(first as bigint)
  if (field === 5) return messages(first as Uint8Array, 1).map(readValue)
  return typeof first === 'bigint' ? Number(first) : first
}

const messages = (bytes: Uint8Array, field: number) => (readFields(bytes).get(field) ?? []) as Uint8Array[]
const text = (bytes: Uint8Array, field: number) => Buffer.from(messages(bytes, field)[0] ?? []).toString()
const hex = (bytes: Uint8Array, field: number) => Buffer.from(messages(bytes, field)[0] ?? []).toString('hex')

function readFields(bytes: Uint8Array): Map<number, (bigint | number | Uint8Array)[]> {
  const reader = new BinaryReader(bytes)
  const fields = new Map<number, (bigint | number | Uint8Array)[]>()
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    const value = readOne(reader, type)
    fields.set(field, [...(fields.get(field) ?? []), value])
  }
  return fields
}

function readOne(reader: BinaryReader, type: WireType) {
  switch (type) {
    case WireType.Varint:
      return BigInt(reader.uint64())
    case WireType.Bit64:
      return BigInt(reader.fixed64())
    case WireType.LengthDelimited:
      return reader.bytes()
    default:
      return reader.fixed32()
  }
}
