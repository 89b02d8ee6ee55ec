import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../deploy/local/ports.ts'

/** The proxies whose configuration docs/operations.md has. */
export type ProxyName = 'nginx' | 'caddy' | 'haproxy'

export interface Proxy {
  /** Such as `https://localhost:20123`. */
  url: string
  stop(): Promise<void>
}

/** Empty where the machine has the proxy. Otherwise the reason for which its tests are skipped. */
export function withoutProxy(name: ProxyName): string {
  return spawnSync(name, [name === 'caddy' ? 'version' : '-v'], { env }).status === 0
    ? ''
    : ` (skipped: there is no ${name})`
}

/** Starts the proxy with the configuration of docs/operations.md, in front of gateways such as `127.0.0.1:8080`. */
export async function startProxy(
  name: ProxyName,
  gateways: string[],
  { cert, key }: { cert: string; key: string },
): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), `roster-${name}-`))
  // Processes without root's rights read it too.
  chmodSync(folder, 0o711)
  writeFileSync(join(folder, 'certificate.pem'), readFileSync(cert))
  writeFileSync(join(folder, 'key.pem'), readFileSync(key))
  writeFileSync(join(folder, 'both.pem'), readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'))
  const port = await freePort(0)
  const documented = configurationOf(name)
    .replaceAll('roster.example.com', 'localhost')
    .replaceAll('/etc/roster', folder)
    .replaceAll(/\b443\b/g, String(port))
    .replaceAll(/^(.*?)127\.0\.0\.1:8080(.*)$/gm, (_, before: string, after: string) =>
      severalTimes(name, before, after, gateways),
    )
  const { args, text } = running[name](folder, documented)
  writeFileSync(join(folder, 'configuration'), text)
  const child = spawn(name, args, { env: { ...env, HOME: folder }, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)))
  const exited = once(child, 'exit')
  while (!(await listens(port))) {
    if (child.exitCode !== null) throw new Error(`${name} did not start: ${said}`)
    await sleep(20)
  }
  return {
    url: `https://localhost:${port}`,
    async stop() {
      child.kill()
      await exited
      rmSync(folder, { recursive: true })
    },
  }
}

// Debian puts servers where only root's PATH leads.
const env = { ...process.env, PATH: [process.env['PATH'], '/usr/sbin'].join(delimiter) }

function configurationOf(name: ProxyName): string {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const language = name === 'caddy' ? 'caddyfile' : name
  const [, text] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(page)!
  return text!
}

// Several gateways take several lines, or stand in one.
function severalTimes(name: ProxyName, before: string, after: string, gateways: string[]): string {
  if (name === 'caddy') return before + gateways.join(` ${/h2c:\/\/$/.exec(before)?.[0] ?? ''}`) + after
  const lines = gateways.map(
    (gateway, index) => before.replace('server gateway', `server gateway${index}`) + gateway + after,
  )
  return lines.join('\n')
}

/** How each proxy runs in the foreground, with all that it writes below the folder. */
const running: Record<ProxyName, (folder: string, documented: string) => { args: string[]; text: string }> = {
  nginx: (folder, documented) => ({
    args: ['-p', folder, '-e', 'stderr', '-c', join(folder, 'configuration')],
    text: `daemon off; pid ${folder}/pid; events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n  ')}
  ${documented}
}
`,
  }),
  caddy: (folder, documented) => ({
    args: ['run', '--adapter', 'caddyfile', '--config', join(folder, 'configuration')],
    text: `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${documented}`,
  }),
  haproxy: (folder, documented) => ({ args: ['-db', '-f', join(folder, 'configuration')], text: documented }),
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const { promise, resolve } = Promise.withResolvers<boolean>()
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}
