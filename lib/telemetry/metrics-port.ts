import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { diag } from '@opentelemetry/api'
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import type { MetricProducer } from '@opentelemetry/sdk-metrics'

/** Where the port is, and what bounds it. */
export interface PortOptions {
  host: string
  port: number
  /** Connections at a time. Further ones are refused silently. */
  mostConnections?: number
  /** Milliseconds after which a connection ends, whatever it does. */
  patience?: number
}

/**
 * Serves the text of Prometheus at `/metrics`. A connection has one request, and little time for it. However many ask,
 * the metrics are read for one at a time, and all who wait get the same text.
 */
export class MetricsPort extends PrometheusExporter {
  private readonly texts = new PrometheusSerializer()
  private readonly server
  private reading: Promise<string> | undefined

  constructor(metricProducers: MetricProducer[], { host, port, mostConnections = 20, patience = 15_000 }: PortOptions) {
    super({ metricProducers, preventServerStart: true })
    this.server = createServer({ maxHeaderSize: 8 * 1024 }, (request, response) => void this.answer(request, response))
    this.server.maxConnections = mostConnections
    this.server.on('connection', (socket) => {
      const end = setTimeout(() => socket.destroy(), patience).unref()
      socket.once('close', () => clearTimeout(end))
    })
    this.server.on('error', (error) => diag.error(error.message))
    // It does not keep the process alive.
    this.server.listen({ host, port }).unref()
  }

  override async onShutdown(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve))
    this.server.closeAllConnections()
    await closed
  }

  private async answer({ method, url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('connection', 'close')
    if (url.split('?')[0] !== '/metrics') return void response.writeHead(404).end()
    if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, { allow: 'GET, HEAD' }).end()
    try {
      const text = await this.read()
      response.writeHead(200, { 'content-type': 'text/plain' }).end(text)
    } catch (error) {
      diag.error('the metrics cannot be read', error)
      response.writeHead(500).end()
    }
  }

  private read(): Promise<string> {
    return (this.reading ??= this.collect()
      .then(({ resourceMetrics, errors }) => {
        if (errors.length > 0) diag.error('some metrics cannot be read', ...errors)
        return this.texts.serialize(resourceMetrics)
      })
      .finally(() => (this.reading = undefined)))
  }
}
