// `node bench/revocations.ts [how many]`: measures how long one of two gateways still accepts a revoked access token.
import { addClients, tokenBySecret } from './load/tokens.ts'
import { median } from './speed/measure.ts'
import { startSystem } from './system.ts'

const count = Number(process.argv[2] ?? 200)
const system = await startSystem({ replicas: 2 })
const { urls } = system
try {
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
    const answer = await fetch(urls[0] + path, { method: 'POST', body })
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return answer
  }
} finally {
  await system.stop()
}
