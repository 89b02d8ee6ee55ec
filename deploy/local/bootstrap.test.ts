import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'

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
