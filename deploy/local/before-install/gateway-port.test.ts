import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../ports.ts'
import { gatewayPort } from './gateway-port.mjs'

const hasIPv6 = networkInterfaces()['lo']?.some(({ family }) => family === 'IPv6') ?? false

test.each(['127.0.0.1', ...(hasIPv6 ? ['::1'] : [])])(
  'a port that another program holds on %s is refused: which program, and how to choose a port that is free',
  async (host) => {
    const port = await freePort(0)
    const other = spawn(
      process.execPath,
      ['-e', `require('http').createServer().listen(${port}, '${host}', () => console.log('up'))`],
      {
        cwd: import.meta.dirname,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    onTestFinished(() => void other.kill())
    await once(other.stdout, 'data')
    const refusal = await gatewayPort({ PORT: String(port) }).then(String, (error: Error) => error.message)
    const holder = `Port ${port} is held by node (process ${other.pid}, in ${import.meta.dirname}).`
    expect(refusal).toMatch(/^(.+) Stop that, or choose another port for Roster: PORT=(\d+) npm start$/)
    const [, who, choice] = /^(.+?\)\.) .* PORT=(\d+) /.exec(refusal)!
    expect(who).toBe(holder)
    expect(await gatewayPort({ PORT: choice })).toBe(Number(choice))
  },
)

test('a PORT that is no port is refused by name', async () => {
  for (const PORT of ['http', '-1', '80.5', '65536'])
    await expect(gatewayPort({ PORT })).rejects.toThrow(`PORT must be from 0 to 65535, and not ${PORT}.`)
})
