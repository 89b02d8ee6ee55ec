import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { containerSpec } from './container.ts'
import { daemon, type Daemon } from '../daemon.ts'
import type { Home } from '../home.ts'
import { findProgram } from './program.ts'

/** A Redis of ours on 127.0.0.1 that keeps what it acknowledged and evicts nothing, as BullMQ needs it. */
export async function startRedis(
  home: Home,
  options: { port: number; ephemeral: boolean; say: (line: string) => void },
): Promise<{ url: string; server: Daemon }> {
  const wanted = { program: 'redis-server', debianPackage: 'redis-server', image: 'redis:7.2', variable: 'REDIS_URL' }
  const found = await findProgram(wanted, options.say)
  const password = home.secret('redis')
  const dir = join(home.dir, 'redis')
  const ready = () => answers(options.port, password)
  const settings = {
    requirepass: password,
    appendonly: 'yes',
    appendfsync: options.ephemeral ? 'no' : 'everysec',
    'maxmemory-policy': 'noeviction',
    daemonize: 'no',
  }
  const config = (more: Record<string, string | number>) =>
    Object.entries({ ...settings, ...more })
      .map(([name, value]) => `${name} ${value}\n`)
      .join('')
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const server = daemon(
    home,
    'path' in found
      ? {
          name: 'redis',
          kind: 'server',
          command: found.path,
          args: ['-'],
          stopSignal: 'SIGTERM',
          ready,
          input: config({ bind: '127.0.0.1', port: options.port, dir: JSON.stringify(dir) }),
        }
      : containerSpec(home, {
          name: 'redis',
          image: found.image,
          port: options.port,
          containerPort: 6379,
          data: '/data',
          args: ['redis-server', '-'],
          input: config({ dir: '/data' }),
          stopSignal: 'SIGTERM',
          ready,
        }),
  )
  await server.start()
  return { url: `redis://:${password}@127.0.0.1:${options.port}`, server }
}

async function answers(port: number, password: string): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    socket.setTimeout(1_000, () => socket.destroy(new Error('timeout')))
    socket.end(`AUTH ${password}\r\nPING\r\n`)
    let said = ''
    for await (const chunk of socket) said += String(chunk)
    return said.includes('+PONG')
  } finally {
    socket.destroy()
  }
}
