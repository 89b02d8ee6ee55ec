import { hostname } from 'node:os'
import { connect, type NatsConnection, type NatsError, RequestStrategy } from 'nats'
import { optional, readConfig, text } from '#lib/config/read-config'
import { natsServers } from '#lib/nats/connect-nats'
import { readWaits } from '#lib/health/waits'
import { askReadiness } from './ask-readiness.ts'

/**
 * Ends with 0 when the service in this container is ready, else with 1 and a sentence: `node deploy/healthcheck.ts
 * users`. The gateway is asked over its port, another service over NATS, with the service's own settings; replicas
 * elsewhere do not count.
 */
const [service] = process.argv.slice(2)
const problem = await (service === 'gateway' ? askGateway() : askOverNats(service!)).catch(
  (error: Error) => error.message,
)
if (problem) console.log(problem)
process.exit(problem ? 1 : 0)

async function askGateway(): Promise<string | undefined> {
  const { PORT, TLS_CERT } = readConfig({ PORT: text('8080'), TLS_CERT: optional() })
  const { status, report } = await askReadiness(PORT, TLS_CERT !== undefined)
  return status === 200 ? undefined : `/readyz: ${status} ${report}`
}

async function askOverNats(name: string): Promise<string | undefined> {
  const options = {
    ...natsServers(readConfig({ NATS_URL: text() }).NATS_URL),
    name: `${name} health`,
    inboxPrefix: `_INBOX_${name}`,
    reconnect: false,
    timeout: 3000,
  }
  let connection: NatsConnection
  try {
    connection = await connect(options)
  } catch (error) {
    // Only the service itself knows since when, and it cannot be asked now.
    return `${name} cannot reach NATS (${(error as NatsError).code}); its log says since when`
  }
  // However many replicas there are, the one here is among those that answer.
  const answers = await connection.requestMany(`$SRV.INFO.${name}`, '', {
    strategy: RequestStrategy.Timer,
    maxWait: 1000,
  })
  try {
    for await (const answer of answers) {
      const { metadata } = answer.json<{ metadata?: { host?: string; starting?: string; waiting?: string } }>()
      if (metadata?.host !== hostname()) continue
      if (metadata.starting !== 'true') return undefined
      const waits = Object.entries(readWaits(metadata.waiting ?? '')).map(([server, at]) => `${server} since ${at}`)
      return `${name} starts${waits.length > 0 ? ` and waits for ${waits.join(', ')}` : ''}`
    }
  } catch (error) {
    // The server itself says so where no service listens.
    if ((error as NatsError).code !== '503') throw error
  }
  return `no ${name} of this host answers over NATS`
}
