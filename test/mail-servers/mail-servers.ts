import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../deploy/local/ports.ts'
import { makeCertificate } from '../../services/gateway/testing/certificate.ts'
import { environmentOf, unpackDebian } from '../support/debian.ts'

/** A mail server that runs, and hands on what it takes. */
export interface MailServer {
  port: number
  /** The certificate that it shows. */
  ca: string
  /** What it wrote to its log. */
  log(): string
  stop(): Promise<void>
}

/** How to run a mail server of Debian. */
export interface MailServerKind {
  name: string
  packages: string[]
  /** Users that it asks for by name. */
  users: string[]
  /** Below the root of the packages. */
  program: string
  /** Writes the configuration and gives the arguments that start it in the foreground. */
  configure(place: Place): string[]
}

export interface Place {
  /** The folder of the packages, of the server's own files, and of `cert.pem` and `key.pem`. */
  folder: string
  port: number
  /** The port that takes what the server hands on. */
  next: number
  /** Further lines of configuration. */
  more: string[]
}

/** The id of a server's first user, while it runs. */
export const firstUser = 61_000

/** Downloads a mail server. Undefined where this machine cannot run it: that takes Debian's packages, and root. */
export function unpackMailServer({ packages, program }: MailServerKind): string | undefined {
  return unpackDebian(packages, (folder) => {
    execFileSync('unshare', ['--mount', 'true'])
    const missing = execFileSync('ldd', [join(folder, 'root', program)], {
      env: environmentOf(folder),
      encoding: 'utf8',
    })
    if (missing.includes('not found')) throw new Error(missing)
  })
}

/**
 * Starts the server from its folder. Its users and its places in the file system are its own: it has a mount namespace.
 */
export async function startMailServer(
  kind: MailServerKind,
  folder: string,
  next: number,
  more: string[] = [],
): Promise<MailServer> {
  const port = await freePort(0)
  const { cert, key, ca, remove } = makeCertificate()
  copyFileSync(cert, join(folder, 'cert.pem'))
  copyFileSync(key, join(folder, 'key.pem'))
  remove()
  // Servers read them with the rights of their own users, or refuse a key that others may read.
  chmodSync(join(folder, 'key.pem'), kind.name === 'OpenSMTPD' ? 0o600 : 0o644)
  writeUsers(folder, kind.users)
  for (const name of ['spool', 'data']) mkdirSync(join(folder, name), { recursive: true })
  const args = kind.configure({ folder, port, next, more })
  writeFileSync(join(folder, 'run'), script(folder))
  const output = join(folder, 'output')
  const server = spawn('unshare', ['--mount', 'sh', join(folder, 'run'), join(folder, 'root', kind.program), ...args], {
    stdio: 'ignore',
    detached: true,
  })
  while (!(await isUp(port))) {
    if (server.exitCode !== null) throw new Error(`${kind.name} ended: ${readFileSync(output, 'utf8')}`)
    await sleep(50)
  }
  return {
    port,
    ca,
    log: () => readFileSync(output, 'utf8'),
    async stop() {
      process.kill(-server.pid!, 'SIGTERM')
      if (server.exitCode === null) await once(server, 'exit')
      rmSync(folder, { recursive: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}

// The machine may know them already, by other ids.
function writeUsers(folder: string, users: string[]) {
  for (const file of ['passwd', 'group']) {
    const others = readFileSync(`/etc/${file}`, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !users.includes(line.split(':')[0]!))
    const own = users.map((user, index) => {
      const id = firstUser + index
      return file === 'passwd' ? `${user}:x:${id}:${id}::/nonexistent:/bin/false` : `${user}:x:${id}:`
    })
    writeFileSync(join(folder, file), [...others, ...own, ''].join('\n'))
  }
}

function script(folder: string): string {
  return `
    mount --bind ${folder}/passwd /etc/passwd && mount --bind ${folder}/group /etc/group
    mount -t tmpfs tmpfs /var/spool && mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /var/lib
    mkdir -p /var/lib/opensmtpd/empty
    # Not by LD_LIBRARY_PATH: programs that change their user ignore it.
    ldconfig -C ${folder}/libraries ${folder}/root/usr/lib/x86_64-linux-gnu ${folder}/root/lib/x86_64-linux-gnu
    mount --bind ${folder}/libraries /etc/ld.so.cache
    exec "$@" >${folder}/output 2>&1
  `
}

function isUp(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(port, '127.0.0.1')
  socket
    .once('data', () => resolve(true))
    .once('error', () => resolve(false))
    .once('close', () => resolve(false))
  return promise.finally(() => socket.destroy())
}
