import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { findWithoutRegistry } from './registries.ts'
import { runCommands } from './run-commands.ts'

test('no test waits for a registry that cannot be reached, or takes a connection and says nothing', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  onTestFinished(() => void silent.close())
  await once(silent, 'listening')
  const there = (await runCommands('command -v npm python3 go || true', tmpdir(), 10_000)).split('\n').filter(Boolean)
  for (const port of [9, (silent.address() as AddressInfo).port]) {
    const url = `http://127.0.0.1:${port}`
    const settings = { npm_config_registry: url, PIP_INDEX_URL: url, PIP_FIND_LINKS: '', GOPROXY: url }
    const found = await findWithoutRegistry(10_000, settings)
    expect(found.map((installer) => there.find((path) => path.endsWith(installer)))).toEqual(there)
  }
})

test('an installation that does not end is ended, with all that it started', async () => {
  const installing = runCommands('echo begun; sleep 600 & wait', tmpdir(), 1000)
  await expect(installing).rejects.toThrow(/did not end within 1 seconds[^]*begun/)
})
