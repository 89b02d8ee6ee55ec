// The first half of the chains: passes each body through one NATS request.
import { createServer } from 'node:http'
import { connect } from 'nats'

const { host, username, password } = new URL(process.env['BENCH_NATS_URL']!)
const nats = await connect({ servers: host, user: username, pass: password })

createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const subject = `bench.${request.url!.split('/')[1] || 'bare'}`
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    nats.request(subject, Buffer.concat(chunks), { timeout: 10_000 }).then(
      ({ data }) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': data.length })
        response.end(data)
      },
      (error: unknown) => {
        const text = String(error)
        response.writeHead(500, { 'content-length': Buffer.byteLength(text) })
        response.end(text)
      },
    )
  })
}).listen(Number(process.env['BENCH_PORT']), '127.0.0.1')

process.on('SIGTERM', () => process.exit(0))
