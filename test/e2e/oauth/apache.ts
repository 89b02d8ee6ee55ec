import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer } from 'node:tls'
import { freePort } from '../../../deploy/local/ports.ts'
import { makeCertificate } from '../../../services/gateway/testing/certificate.ts'
import { environmentOf, unpackDebian } from '../../support/debian.ts'

const packages = [
  'apache2-bin', 'libapache2-mod-auth-openidc', 'libapr1', 'libaprutil1', 'libcjose0', 'libhiredis0.14', 'libjansson4',
  'libcurl4', 'liblua5.3-0', 'libxml2', 'libbrotli1', 'libnghttp2-14', 'libpcre2-8-0', 'libldap-2.5-0', 'libsasl2-2',
  'librtmp1', 'libssh2-1', 'libpsl5', 'libicu72', 'libcrypt1', 'libexpat1',
] // prettier-ignore

/** A running Apache, whose locations the test configures. */
export interface Apache {
  /** For example `http://127.0.0.1:40123`. */
  url: string
  stop(): Promise<void>
}

/** Debian's Apache with mod_auth_openidc: below which root it lies, and a folder for what a test adds. */
export interface FoundApache {
  root: string
  folder: string
  env: Record<string, string>
}

/**
 * Finds the one that is installed. Else it downloads the packages and unpacks them into the folder. Nothing is installed.
 * Undefined where this machine can have neither.
 */
export function findApache(): FoundApache | undefined {
  if ([program, moduleFile('auth_openidc'), moduleFile('ssl')].every((path) => existsSync(join('/', path)))) {
    const folder = mkdtempSync(join(tmpdir(), 'roster-apache-'))
    chmodSync(folder, 0o755)
    return { root: '/', folder, env: { PATH: process.env['PATH'] ?? '' } }
  }
  const folder = unpackDebian(packages, (unpacked) =>
    execFileSync(join(unpacked, 'root', program), ['-v'], { env: environmentOf(unpacked) }),
  )
  return folder === undefined ? undefined : { root: join(folder, 'root'), folder, env: environmentOf(folder) }
}

const program = 'usr/sbin/apache2'

function moduleFile(name: string): string {
  return `usr/lib/apache2/modules/mod_${name}.so`
}

/** The module insists on TLS, so serve the same server by TLS with a self-signed certificate. */
export async function startTls(url: string): Promise<{ url: string; stop(): void }> {
  const { key, cert, remove } = makeCertificate()
  const { hostname, port } = new URL(url)
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => {
    const plain = connect({ host: hostname, port: Number(port) })
    socket.pipe(plain).pipe(socket)
    for (const end of [socket, plain]) end.on('error', () => [socket, plain].forEach((each) => each.destroy()))
  })
  const own = await freePort(0)
  server.listen(own, '127.0.0.1')
  return { url: `https://localhost:${own}`, stop: () => (remove(), void server.close()) }
}

/** Starts it with these lines of configuration, at `port` or a free one. `tls`: the files of a certificate and its key. */
export async function startApache(
  { root, folder, env }: FoundApache,
  lines: string[],
  { port, tls }: { port?: number; tls?: { cert: string; key: string } } = {},
): Promise<Apache> {
  const ownPort = port ?? (await freePort(0))
  const url = `http${tls ? 's' : ''}://${tls ? 'localhost' : '127.0.0.1'}:${ownPort}`
  mkdirSync(join(folder, 'htdocs'), { recursive: true })
  writeFileSync(join(folder, 'htdocs', 'index.html'), 'let in')
  const modules = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'auth_openidc', ...(tls ? ['ssl'] : [])]
  const configuration = [
    ...modules.map((name) => `LoadModule ${name}_module ${join(root, moduleFile(name))}`),
    `Listen 127.0.0.1:${ownPort}`,
    'ServerName localhost',
    'User nobody',
    'Group nogroup',
    `PidFile ${folder}/pid`,
    `ErrorLog ${folder}/error.log`,
    `DocumentRoot ${folder}/htdocs`,
    `DefaultRuntimeDir ${folder}`,
    ...(tls ? ['SSLEngine On', `SSLCertificateFile ${tls.cert}`, `SSLCertificateKeyFile ${tls.key}`] : []),
    'OIDCCryptoPassphrase none-of-importance',
    ...lines,
  ]
  writeFileSync(join(folder, 'apache.conf'), configuration.join('\n'))
  const args = ['-d', folder, '-f', join(folder, 'apache.conf'), '-DFOREGROUND']
  const server = spawn(join(root, program), args, { env, stdio: 'inherit' })
  const isUp = () =>
    fetch(url, { redirect: 'manual' }).then(
      () => true,
      () => false,
    )
  while (!(await isUp())) {
    if (server.exitCode !== null) throw new Error('Apache ended')
    await sleep(20)
  }
  return {
    url,
    async stop() {
      server.kill('SIGTERM')
      if (server.exitCode === null) await once(server, 'exit')
      rmSync(folder, { recursive: true })
    },
  }
}
