import { type Servers, startServers } from '../../deploy/local/servers.ts'

/** Starts a NATS server beside servers of another kind. */
export function startMoreNats(beside: Pick<Servers, 'databaseUrl' | 'redisUrl' | 'smtpUrl'>): Promise<Servers> {
  const { databaseUrl, redisUrl, smtpUrl } = beside
  const env = { ...process.env, NATS_URL: undefined, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, SMTP_URL: smtpUrl }
  return startServers({ ephemeral: true, ports: 'random', env })
}
