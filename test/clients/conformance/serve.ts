import { readFileSync, writeFileSync } from 'node:fs'
import { fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf'
import { createLog } from '#lib/log'
import { connectNats } from '#lib/nats/connect-nats'
import { readGatewayConfig } from '../../../services/gateway/config.ts'
import { startGateway } from '../../../services/gateway/server.ts'
import { registry } from './registry.ts'

const log = createLog('conformance', 'silent')
const nats = await connectNats(process.env['NATS_URL']!, 'gateway', log)
const { CERTIFICATE: cert, CERTIFICATE_KEY: key } = process.env as Record<string, string>

// The answers to the suite, which asks a server where it is.
writeFileSync('plain', await serve({}))
writeFileSync('tls', await serve({ TLS_CERT_FILE: cert!, TLS_KEY_FILE: key! }, readFileSync(cert!, 'base64')))
process.send!('ready')
process.once('disconnect', () => process.exit())

async function serve(tls: Record<string, string>, pemCert = ''): Promise<Buffer> {
  const config = readGatewayConfig({
    ...process.env,
    ...tls,
    PORT: '0',
    HOST: '127.0.0.1',
    // What the suite calls too large.
    PUBLIC_REQUEST_BYTES: String(200 * 1024),
    // All comes from one address, without a token.
    CALLS_PER_ADDRESS: '0',
    STREAMS_PER_CALLER: '0',
    STREAMS_PER_ORGANIZATION: '0',
  })
  const { port } = await startGateway({ config, nats, log })
  return frameOf({ host: '127.0.0.1', port, pemCert })
}

function frameOf(answer: JsonValue): Buffer {
  const desc = registry.getMessage('connectrpc.conformance.v1.ServerCompatResponse')!
  const bytes = toBinary(desc, fromJson(desc, answer))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
