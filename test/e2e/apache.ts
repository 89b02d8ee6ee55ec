import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer } from 'node:tls'
import { freePort } from '../../deploy/local/ports.ts'
import { environmentOf, unpackDebian } from '../support/debian.ts'

const packages = [
  'apache2-bin', 'libapache2-mod-auth-openidc', 'libapr1', 'libaprutil1', 'libcjose0', 'libhiredis0.14', 'libjansson4',
  'libcurl4', 'liblua5.3-0', 'libxml2', 'libbrotli1', 'libnghttp2-14', 'libpcre2-8-0', 'libldap-2.5-0', 'libsasl2-2',
  'librtmp1', 'libssh2-1', 'libpsl5', 'libicu72', 'libcrypt1', 'libexpat1',
] // prettier-ignore

/** Debian's Apache with mod_auth_openidc, unpacked into its own folder. Nothing is installed. */
export interface Apache {
  /** Each location below this URL is a resource server that the test configures. */
  url: string
  stop(): Promise<void>
}

/** Downloads and unpacks it. Undefined where this machine cannot do so. */
export function unpackApache(): string | undefined {
  return unpackDebian(packages, (folder) =>
    execFileSync(join(folder, 'root/usr/sbin/apache2'), ['-v'], { env: environmentOf(folder) }),
  )
}

/** The module insists on TLS, so serve the same server by TLS with a self-signed certificate. */
export async function startTls(folder: string, url: string): Promise<{ url: string; stop(): void }> {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = [
    '-subj',
    '/CN=localhost',
    '-days',
    '1',
    '-nodes',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
  ]
  execFileSync('openssl', ['req', '-x509', ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const { hostname, port } = new URL(url)
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => {
    const plain = connect({ host: hostname, port: Number(port) })
    socket.pipe(plain).pipe(socket)
    for (const end of [socket, plain]) end.on('error', () => [socket, plain].forEach((each) => each.destroy()))
  })
  const own = await freePort(0)
  server.listen(own, '127.0.0.1')
  return { url: `https://localhost:${own}`, stop: () => void server.close() }
}

/** Starts Apache from that folder with these lines of configuration. */
export async function startApache(folder: string, lines: string[]): Promise<Apache> {
  const port = await freePort(0)
  const url = `http://127.0.0.1:${port}`
  mkdirSync(join(folder, 'htdocs'), { recursive: true })
  writeFileSync(join(folder, 'htdocs', 'index.html'), 'let in')
  const modules = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'auth_openidc']
  const configuration = [
    ...modules.map((name) => `LoadModule ${name}_module ${folder}/root/usr/lib/apache2/modules/mod_${name}.so`),
    `Listen 127.0.0.1:${port}`,
    'ServerName localhost',
    'User nobody',
    `PidFile ${folder}/pid`,
    `ErrorLog ${folder}/error.log`,
    `DocumentRoot ${folder}/htdocs`,
    `DefaultRuntimeDir ${folder}`,
    'OIDCOAuthSSLValidateServer Off',
    'OIDCCryptoPassphrase none-of-importance',
    ...lines,
  ]
  writeFileSync(join(folder, 'apache.conf'), configuration.join('\n'))
  const args = ['-d', folder, '-f', join(folder, 'apache.conf'), '-DFOREGROUND']
  const server = spawn(join(folder, 'root/usr/sbin/apache2'), args, { env: environmentOf(folder), stdio: 'inherit' })
  const isUp = () =>
    fetch(url).then(
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
