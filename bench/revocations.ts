// `node bench/revocations.ts [how many]`: measures how long one of two gateways still accepts a revoked access token.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../deploy/local/ports.ts'
import { median } from './measure.ts'
import { startSystem, type System } from './system.ts'
import { addClients, tokenBySecret } from './tokens.ts'

const count = Number(process.argv[2] ?? 200)
const system = await startSystem(undefined)
const second = await startGateway(system)
try {
  const urls = [system.url, second.url]
  const [client] = await addClients(system, 1)
  const times: number[] = []
  for (let n = 0; n < count; n++) {
    const { access_token: token } = (await (await post('/oauth/v2/token', {})).json()) as { access_token: string }
    const isTaken = async (url: string) => {
      const answer = await fetch(`${url}/v2/users/${client!.id}`, { headers: { authorization: `Bearer ${token}` } })
      await answer.arrayBuffer()
      return answer.status === 200
    }
    for (const url of urls) if (!(await isTaken(url))) throw new Error(`a new token is refused at ${url}`)
    await post('/oauth/v2/revoke', { token })
    const revoked = performance.now()
    await Promise.all(
      urls.map(async (url) => {
        while (await isTaken(url));
      }),
    )
    times.push(performance.now() - revoked)
  }
  const worst = Math.max(...times)
  console.log(`${count} revocations, two gateways: median ${median(times).toFixed(1)} ms, worst ${worst.toFixed(1)} ms`)

  async function post(path: string, form: Record<string, string>) {
    const body = new URLSearchParams({ ...tokenBySecret(client!), ...form })
    const answer = await fetch(system.url + path, { method: 'POST', body })
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return answer
  }
} finally {
  await second.stop()
  await system.stop()
}

async function startGateway({ servers }: System) {
  const port = await freePort(0)
  const url = `http://127.0.0.1:${port}`
  const { gateway: natsUrl, keeper } = servers.natsUrl
  const settings = { PORT: String(port), NATS_URL: natsUrl, NATS_KEEPER_URL: keeper, LOG_LEVEL: 'fatal' }
  const env = { PATH: process.env['PATH'], ...settings }
  const gateway = spawn(process.execPath, ['services/gateway/main.ts'], { env, stdio: 'inherit' })
  const isReady = () => fetch(`${url}/readyz`).then(({ status }) => status === 200, () => false) // prettier-ignore
  while (gateway.exitCode === null && !(await isReady())) await sleep(50)
  return {
    url,
    async stop() {
      if (gateway.exitCode !== null) return
      gateway.kill('SIGTERM')
      await once(gateway, 'exit')
    },
  }
}
