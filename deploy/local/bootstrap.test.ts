import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'

const bootstrap = join(import.meta.dirname, 'bootstrap.mjs')

test('what runs below npm ends when a SIGTERM ended the shell between', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'roster-bootstrap-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const script = join(folder, 'script.ts')
  writeFileSync(
    script,
    `process.on('SIGTERM', () => { console.log('bye'); process.exit(0) })
    setInterval(() => {}, 1000)
    console.log('up')`,
  )
  // The last command of a shell may take its place, so this one has another behind it.
  const shell = spawn('sh', ['-c', `"${process.execPath}" "${bootstrap}" "${script}"; true`], {
    env: { ...process.env, npm_lifecycle_event: 'start' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  shell.stdout.on('data', (chunk) => (output += String(chunk)))
  await vi.waitFor(() => expect(output).toBe('up\n'), { timeout: 20_000 })
  shell.kill('SIGTERM')
  await vi.waitFor(() => expect(output).toBe('up\nbye\n'), { timeout: 10_000 })
})

describe('on a fresh clone,', () => {
  let clone: string
  beforeEach(() => {
    clone = mkdtempSync(join(tmpdir(), 'roster-clone-'))
    for (const file of ['bootstrap.mjs', 'before-install'])
      cpSync(join(import.meta.dirname, file), join(clone, 'deploy/local', file), { recursive: true })
    writeFileSync(join(clone, 'package.json'), '{"engines":{"node":">=20.0"}}')
    writeFileSync(join(clone, 'package-lock.json'), '{"packages":{"":{}}}')
    writeFileSync(
      join(clone, 'npm-of-test.js'),
      `require('fs').mkdirSync(${JSON.stringify(join(clone, 'node_modules'))})`,
    )
    writeFileSync(join(clone, 'deploy/local/start.ts'), `console.log('started')`)
  })
  afterEach(() => rmSync(clone, { recursive: true }))

  async function start(PORT: string) {
    const command = spawn(process.execPath, ['deploy/local/bootstrap.mjs', 'deploy/local/start.ts'], {
      cwd: clone,
      env: { ...process.env, PORT, npm_execpath: join(clone, 'npm-of-test.js') },
      stdio: 'pipe',
    })
    let output = ''
    for (const stream of [command.stdout, command.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
    const [code] = (await once(command, 'close')) as [number]
    return { code, output, isInstalled: existsSync(join(clone, 'node_modules')) }
  }

  test('the installation says what it does, and the command follows', async () => {
    const { output, ...rest } = await start('0')
    expect(rest).toEqual({ code: 0, isInstalled: true })
    expect(output).toMatch(/^ +\d+ s {2}Installing packages \(once; a minute or so\)\nstarted\n$/)
  })

  test('a port of the gateway that is held is said before the installation', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void holder.close())
    await once(holder, 'listening')
    const { port } = holder.address() as AddressInfo
    const { output, ...rest } = await start(String(port))
    expect(rest).toEqual({ code: 1, isInstalled: false })
    expect(output).toMatch(
      new RegExp(`^Port ${port} is held by node \\(process ${process.pid}, in .*\\)\\. Stop that, .*\\n$`),
    )
  })
})
