import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { containerSpec } from './container.ts'
import { daemon, type Daemon } from '../daemon.ts'
import { projectRoot, type Home } from '../home.ts'
import { natsUrls, natsUsers, passwordVariable, type NatsUser } from './nats-users.ts'
import { findProgram } from './program.ts'

/**
 * A NATS server of ours on 127.0.0.1 with JetStream and `deploy/nats/nats.conf`, or another `config` with its `env`.
 * Each user has a URL with name and password.
 */
export async function startNats(
  home: Home,
  options: { port: number; say: (line: string) => void; config?: string; env?: Record<string, string> },
): Promise<{ urls: Record<NatsUser, string>; server: Daemon }> {
  const wanted = { program: 'nats-server', debianPackage: 'nats-server', image: 'nats:2.12', variable: 'NATS_URL' }
  const found = await findProgram(wanted, options.say)
  const config = options.config ?? join(projectRoot, 'deploy/nats/nats.conf')
  const passwords = {
    ...Object.fromEntries(natsUsers.map((user) => [passwordVariable(user), home.secret(`nats-${user}`)])),
    ...options.env,
  }
  const dir = join(home.dir, 'nats')
  const ready = () => natsAnswers(options.port)
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const server = daemon(
    home,
    'path' in found
      ? {
          name: 'nats',
          kind: 'server',
          command: found.path,
          stopSignal: 'SIGTERM',
          ready,
          args: ['-c', config, '-a', '127.0.0.1', '-p', String(options.port), '-sd', dir],
          env: { ...process.env, ...passwords },
        }
      : containerSpec(home, {
          name: 'nats',
          image: found.image,
          port: options.port,
          containerPort: 4222,
          data: '/data',
          files: { [config]: '/etc/roster/nats.conf' },
          args: ['-c', '/etc/roster/nats.conf', '-sd', '/data'],
          env: passwords,
          stopSignal: 'SIGTERM',
          ready,
        }),
  )
  await server.start()
  return { urls: natsUrls(`nats://127.0.0.1:${options.port}`, (user) => home.secret(`nats-${user}`)), server }
}

/** Whether a NATS server answers on this port of 127.0.0.1. */
export async function natsAnswers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    socket.setTimeout(1_000, () => socket.destroy(new Error('timeout')))
    for await (const chunk of socket) return String(chunk).startsWith('INFO ')
    return false
  } finally {
    socket.destroy()
  }
}
