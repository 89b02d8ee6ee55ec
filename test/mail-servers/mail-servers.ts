import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
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
  /** The folder of its own files. */
  folder: string
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
  /** Further folders of its libraries, below the root of the packages. */
  libraries?: string[]
  /** Folders below the root of the packages that it sees over those of the machine. */
  overlaid?: string[]
  /** Writes the configuration and returns the arguments that start it in the foreground. */
  configure(place: Place): string[]
}

export interface Place {
  /** The folder below which the packages lie as below `/`. */
  root: string
  /** The folder of the server's own files, and of `cert.pem` and `key.pem`. */
  folder: string
  port: number
  /** The port that takes what the server hands on. */
  next: number
  /** Further lines of configuration. */
  more: string[]
}

/** The id of a server's first user, while it runs. */
export const firstUser = 61_000

/**
 * Downloads a mail server, and returns the folder of its packages. Undefined where this machine cannot run it: that
 * takes Debian's packages, and root.
 */
export function unpackMailServer({ packages, program, libraries = [] }: MailServerKind): string | undefined {
  return unpackDebian(packages, (folder) => {
    const [command, ...args] = [...apart, 'true']
    execFileSync(command, args)
    const env = environmentOf(folder)
    const own = libraries.map((name) => join(folder, 'root', name))
    const missing = execFileSync('ldd', [join(folder, 'root', program)], {
      env: { ...env, LD_LIBRARY_PATH: [env['LD_LIBRARY_PATH'], ...own].join(':') },
      encoding: 'utf8',
    })
    if (missing.includes('not found')) throw new Error(missing)
  })
}

// The server's users and places are its own, by a mount namespace. Whatever it starts ends with it, by a process
// namespace: Postfix's programs leave its group. And it ends with the process of the tests, however that ends.
const apart = ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--fork', '--kill-child']

/** Starts a server that was unpacked into a folder. It may be started several times. */
export async function startMailServer(
  kind: MailServerKind,
  unpacked: string,
  next: number,
  more: string[] = [],
): Promise<MailServer> {
  const port = await freePort(0)
  const root = join(unpacked, 'root')
  const folder = mkdtempSync(join(tmpdir(), 'roster-mail-server-'))
  chmodSync(folder, 0o755)
  const { cert, key, ca, remove } = makeCertificate()
  copyFileSync(cert, join(folder, 'cert.pem'))
  copyFileSync(key, join(folder, 'key.pem'))
  remove()
  // Servers read it with the rights of their own users.
  chmodSync(join(folder, 'key.pem'), 0o644)
  writeUsers(folder, kind.users)
  for (const name of ['spool', 'data']) mkdirSync(join(folder, name))
  const args = kind.configure({ root, folder, port, next, more })
  writeFileSync(join(folder, 'run'), script(root, folder, kind))
  const [command, ...before] = [...apart, 'sh', join(folder, 'run'), join(root, kind.program), ...args]
  const server = spawn(command!, before, { stdio: 'ignore' })
  const exited = once(server, 'exit')
  const read = (file: string) => readFileSync(join(folder, file), { encoding: 'utf8', flag: 'a+' })
  async function stop() {
    server.kill('SIGKILL')
    await exited
    // The last of its processes may still be about to end.
    rmSync(folder, { recursive: true, maxRetries: 10, retryDelay: 100 })
  }
  while (!(await isUp(port))) {
    if (server.exitCode !== null) {
      const output = read('output') + read('log')
      await stop()
      throw new Error(`${kind.name} ended: ${output}`)
    }
    await sleep(50)
  }
  return { port, ca, folder, log: () => read('output') + read('log'), stop }
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

function script(root: string, folder: string, { libraries = [], overlaid = [] }: MailServerKind): string {
  const own = libraries.map((name) => `${root}/${name}`).join(' ')
  const overlay = (name: string) => `mount -t overlay overlay -o lowerdir=${root}/${name}:/${name} /${name}`
  return `
    mount --bind ${folder}/passwd /etc/passwd && mount --bind ${folder}/group /etc/group
    mount -t tmpfs tmpfs /var/spool && mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /var/lib
    mkdir -p /var/lib/opensmtpd/empty
    # Not by LD_LIBRARY_PATH: programs that change their user ignore it.
    ldconfig -C ${folder}/libraries ${root}/usr/lib/x86_64-linux-gnu ${root}/lib/x86_64-linux-gnu ${own}
    mount --bind ${folder}/libraries /etc/ld.so.cache
    ${overlaid.map(overlay).join(' && ')}
    # Not by exec: a program with the set-user-ID bit, such as Exim, would outlive the process that started it.
    "$@" >${folder}/output 2>&1
    exit
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
