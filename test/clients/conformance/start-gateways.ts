import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { openHome } from '../../../deploy/local/home.ts'
import { freePort } from '../../../deploy/local/ports.ts'
import { startNats } from '../../../deploy/local/servers/nats-server.ts'
import { makeCertificate } from '../../../services/gateway/testing/certificate.ts'
import { newCallerKey, testGatewayKeys } from '../../support/caller-keys.ts'

/**
 * Starts a gateway without TLS and one with it, both with the suite's service behind them. The process puts into the
 * folder what a server reports to the suite: where it is, in the files `plain` and `tls`.
 */
export async function startGateways(folder: string, descriptors: string): Promise<{ stop(): Promise<void> }> {
  const { urls, server } = await startNats(openHome(folder), { port: await freePort(0), say: () => {} })
  const { cert, key, remove } = makeCertificate()
  const env = {
    ...process.env,
    CONFORMANCE_DESCRIPTORS: descriptors,
    CERTIFICATE: cert,
    CERTIFICATE_KEY: key,
    NATS_URL: urls.gateway,
    NATS_KEEPER_URL: urls.keeper,
    ROSTER_CALLER_KEYS: `${testGatewayKeys},conformance:${newCallerKey()}`,
  }
  const gateways = fork(join(import.meta.dirname, 'main.ts'), { env, cwd: folder, execArgv: [] })
  const ended = once(gateways, 'exit')
  const stop = async () => {
    gateways.kill()
    await ended
    await server.stop()
    remove()
  }
  const first = await Promise.race([once(gateways, 'message'), ended.then(() => undefined)])
  if (first) return { stop }
  await stop()
  throw new Error('the gateways ended before they were ready')
}
