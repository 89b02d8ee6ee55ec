// The first half of the chains over gRPC, by the library that Roster's gateway uses.
import { type sendUnaryData, Server, ServerCredentials, type ServerUnaryCall } from '@grpc/grpc-js'
import { connect } from 'nats'

const { host, username, password } = new URL(process.env['BENCH_NATS_URL']!)
const nats = await connect({ servers: host, user: username, pass: password })
const same = (bytes: Buffer) => bytes

const pass =
  (subject: string) =>
  ({ request }: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => {
    nats.request(subject, request, { timeout: 10_000 }).then(({ data }) => answer(null, Buffer.from(data)), answer)
  }

const unary = (name: string) => ({
  path: `/bench.Chain/${name}`,
  requestStream: false,
  responseStream: false,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
})

const server = new Server()
server.addService({ bare: unary('bare'), echo: unary('echo') }, { bare: pass('bench.bare'), echo: pass('bench.echo') })
server.bindAsync(
  `127.0.0.1:${process.env['BENCH_PORT']}`,
  ServerCredentials.createInsecure(),
  (error: Error | null) => {
    if (error) throw error
    console.log('ready')
  },
)

process.on('SIGTERM', () => process.exit(0))
