import { join } from 'node:path'
import { GenericContainer, Wait } from 'testcontainers'
import { projectRoot } from '../deploy/local/home.ts'
import { natsUsers, passwordVariable } from '../deploy/local/servers/nats-users.ts'

/** PostgreSQL, NATS and Redis from their images, as the environment variables that name them. */
export async function startContainers(): Promise<{ env: Record<string, string>; stop(): Promise<void> }> {
  const natsPasswords = Object.fromEntries(natsUsers.map((user) => [passwordVariable(user), `${user}Password`]))
  const [postgres, nats, redis] = await Promise.all([
    new GenericContainer('postgres:18')
      .withEnvironment({ POSTGRES_PASSWORD: 'password' })
      .withExposedPorts(5432)
      // While the image prepares its data, it listens on no TCP port.
      .withWaitStrategy(Wait.forListeningPorts())
      .start(),
    new GenericContainer('nats:2.12')
      .withEnvironment(natsPasswords)
      .withCopyFilesToContainer([
        { source: join(projectRoot, 'deploy/nats/nats.conf'), target: '/etc/roster/nats.conf' },
      ])
      .withCommand(['-c', '/etc/roster/nats.conf', '-sd', '/data'])
      .withExposedPorts(4222)
      .withWaitStrategy(Wait.forLogMessage(/Server is ready/))
      .start(),
    new GenericContainer('redis:7.2')
      .withCommand([
        'redis-server',
        '--appendonly',
        'yes',
        '--maxmemory-policy',
        'noeviction',
        '--protected-mode',
        'no',
      ])
      .withExposedPorts(6379)
      .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
      .start(),
  ])
  return {
    env: {
      DATABASE_URL: `postgres://postgres:password@${postgres.getHost()}:${postgres.getMappedPort(5432)}/roster`,
      NATS_URL: `nats://${nats.getHost()}:${nats.getMappedPort(4222)}`,
      REDIS_URL: `redis://${redis.getHost()}:${redis.getMappedPort(6379)}`,
      ...natsPasswords,
    },
    stop: async () => void (await Promise.all([postgres.stop(), nats.stop(), redis.stop()])),
  }
}
