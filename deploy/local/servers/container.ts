import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import type { Home } from '../home.ts'
import type { DaemonSpec } from '../daemon.ts'

/** A server that runs in a container of the local Docker engine, its data in a named volume. */
export interface ContainerSpec {
  name: string
  image: string
  port: number
  containerPort: number
  /** Where the volume is mounted; the data of a folder of ours is found again by the next start. */
  data: string
  /** Read-only files, host path to container path. */
  files?: Record<string, string>
  env?: Record<string, string>
  args?: string[]
  input?: string
  stopSignal: NodeJS.Signals
  ready: () => Promise<boolean>
}

/** The container as a process of ours: `docker run` stays in the foreground and passes signals on. */
export function containerSpec(home: Home, spec: ContainerSpec): DaemonSpec {
  const name = `roster-${createHash('sha256').update(home.dir).digest('hex').slice(0, 8)}-${spec.name}`
  const { input, stopSignal, ready, env = {} } = spec
  return {
    name: spec.name,
    kind: 'server',
    command: 'docker',
    args: [
      'run',
      '--rm',
      '--interactive',
      '--name',
      name,
      '--publish',
      `127.0.0.1:${spec.port}:${spec.containerPort}`,
      '--volume',
      `${name}:${spec.data}`,
      ...Object.entries(spec.files ?? {}).flatMap(([from, to]) => ['--volume', `${from}:${to}:ro`]),
      // Without a value Docker takes it from our environment: no secret shows in `ps`.
      ...Object.keys(env).flatMap((key) => ['--env', key]),
      spec.image,
      ...(spec.args ?? []),
    ],
    env: { ...process.env, ...env },
    input: input ?? '',
    stopSignal,
    ready,
    beforeStart: async () => docker('rm', '--force', name),
    send: (signal) => docker('kill', '--signal', signal, name),
  }
}

function docker(...args: string[]): void {
  try {
    execFileSync('docker', args, { stdio: 'ignore' })
  } catch {
    // There was no such container, so nothing is left to do.
  }
}
